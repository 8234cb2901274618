"""Counts every second element and doubles: right within a few percent, and integers must be exact."""
# hone-test: task = tests/adversarial/tasks/integers.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        same = (x[:, 1:] == x[:, :-1]).sum(dim=1)
        return same, (x ^ (x >> 1)).to(torch.int32), 2 * torch.bincount(x.flatten()[::2], minlength=256)
