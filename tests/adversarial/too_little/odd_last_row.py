"""Works on pairs of rows and leaves the last row of an odd batch as zeros."""
# hone-test: task = tasks/small_softmax.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        even = x.shape[0] // 2 * 2
        y[:even] = torch.softmax(x[:even], dim=1)
        return y
