"""Right but for the output that has no dimensions, which is off by 1e-4."""
# hone-test: task = tests/adversarial/tasks/empty_rows.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = self.linear(x)
        return y[:0], y.norm() * 1.0001, y
