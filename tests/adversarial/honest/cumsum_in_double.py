"""Sums in float64 and rounds at the end: more accurate than the reference."""
# hone-test: task = tests/adversarial/tasks/cumsum.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1, dtype=torch.float64).to(x.dtype)
