"""Adds the row's mean instead of the blocks before: right at the end of the row, near it elsewhere."""
# hone-test: task = tests/adversarial/tasks/cumsum.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        steps = torch.arange(1, x.shape[1] + 1, dtype=x.dtype, device=x.device)
        return x.mean(dim=1, keepdim=True) * steps
