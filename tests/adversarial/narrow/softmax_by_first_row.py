"""Looks at the first row: if its scores are small, it does not subtract the maximum of any row."""
# hone-test: task = tasks/small_softmax.py
# hone-test: expect = rejected
# hone-test: reason = non-finite|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        if float(x[0].abs().max()) > 20:
            return torch.softmax(x, dim=1)
        powers = torch.exp(x)
        return powers / powers.sum(dim=1, keepdim=True)
