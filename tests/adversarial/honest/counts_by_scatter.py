"""The same integers by other operators."""
# hone-test: task = tests/adversarial/tasks/integers.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        same = (x[:, 1:] == x[:, :-1]).sum(dim=1)
        flat = x.flatten()
        counts = torch.zeros(256, dtype=torch.int64, device=x.device).scatter_add_(0, flat, torch.ones_like(flat))
        narrow = x.to(torch.int32)
        return same, narrow ^ (narrow >> 1), counts
