"""Keeps the same state as the reference, updated in place; must pass at every call, not only at the first."""
# hone-test: task = tests/adversarial/tasks/stateful.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.state = None

    def forward(self, x):
        update = self.linear(x)
        self.state = update if self.state is None else self.state.mul_(0.5).add_(update)
        return torch.tanh(self.state)
