"""Sums blocks of 64 and carries the sums of the blocks before."""
# hone-test: task = tests/adversarial/tasks/cumsum.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        if x.shape[1] % 64 or not x.is_contiguous():
            return torch.cumsum(x, dim=1)
        blocks = x.view(x.shape[0], -1, 64)
        inner = torch.cumsum(blocks, dim=2)
        carry = torch.cumsum(inner[..., -1], dim=1)
        inner[:, 1:] += carry[:, :-1].unsqueeze(2)
        return inner.view_as(x)
