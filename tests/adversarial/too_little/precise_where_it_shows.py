"""Computes the large elements exactly and rounds those below a hundredth of the row to bfloat16."""
# hone-test: task = tasks/small_softmax.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.softmax(x, dim=1)
        return torch.where(y < 0.01 * y.amax(1, keepdim=True), y.bfloat16().float(), y)
