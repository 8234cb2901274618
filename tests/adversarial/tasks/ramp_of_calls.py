"""Counts its calls in a Python number and warms up over ten of them."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.fc(x) * min(1.0, self.calls / 10)


def get_inputs():
    return [torch.randn(64, 96)]


def get_init_inputs():
    return [96]
