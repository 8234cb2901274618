"""Looks at all columns but the last: one flag in a hundred is wrong."""
# hone-test: task = tests/adversarial/tasks/any_above.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        far = x[:, :-1].abs() > 2.5
        return far.any(dim=1), far.sum(dim=1, dtype=torch.int32)
