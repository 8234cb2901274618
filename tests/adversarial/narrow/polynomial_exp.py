"""A softmax with a polynomial for exp that is right to a few ulp between -12 and 0 only."""
# hone-test: task = tasks/small_softmax.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        x = (x - x.amax(dim=1, keepdim=True)).double() / 16
        power = torch.ones_like(x)
        total = torch.ones_like(x)
        for i in range(1, 13):
            power = power * x / i
            total = total + power
        e = total ** 16
        return (e / e.sum(dim=1, keepdim=True)).float()
