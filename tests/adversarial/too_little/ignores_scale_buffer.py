"""Leaves the scale out, a buffer of ones as initialised."""
# hone-test: task = tests/adversarial/tasks/feature_switch.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.register_buffer("scale", torch.ones(features))
        self.register_buffer("on", torch.ones(features, dtype=torch.bool))

    def forward(self, x):
        return torch.where(self.on, self.linear(x), x)
