"""Subtracts one from the exponential: all digits cancel for small numbers."""
# hone-test: task = tests/adversarial/tasks/expm1.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.exp(x) - 1
