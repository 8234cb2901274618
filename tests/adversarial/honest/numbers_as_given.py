"""Uses the Python numbers that it is given, with an integer power by repeated products."""
# hone-test: task = tests/adversarial/tasks/scalar_inputs.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, alpha, power, flip, mask):
        base = torch.tanh(self.linear(x))
        y = torch.ones_like(base)
        for _ in range(power):
            y = y * base
        y = alpha * y
        y = y.flip(1) if flip else y
        return y if mask is None else y * mask
