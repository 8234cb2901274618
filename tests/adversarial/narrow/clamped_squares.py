"""Norms of inputs that are first clamped to 64: right for N(0, 1), wrong for inputs a thousand times larger."""
# hone-test: task = tests/adversarial/tasks/row_norm.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        small = x.clamp(-64, 64)
        return x / torch.sqrt((small * small).sum(dim=1, keepdim=True) + 1e-6)
