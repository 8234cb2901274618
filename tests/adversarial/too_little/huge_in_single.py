"""Sums in float32 and scales up in float64."""
# hone-test: task = tests/adversarial/tasks/huge_doubles.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.cumsum(x.float(), dim=1).double() * 1e200
