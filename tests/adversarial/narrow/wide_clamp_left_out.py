"""Leaves out a clamp at 65504."""
# hone-test: target = cpu,cuda
# hone-test: task = tests/adversarial/tasks/clamped_product.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return self.linear(x)
