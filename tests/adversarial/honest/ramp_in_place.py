"""The ramp in place, left out once it has reached one."""
# hone-test: task = tests/adversarial/tasks/ramp_of_calls.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        y = self.fc(x)
        return y if self.calls >= 10 else y.mul_(self.calls / 10)
