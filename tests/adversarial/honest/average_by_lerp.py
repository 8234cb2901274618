"""Keeps the moving average with lerp_."""
# hone-test: task = tests/adversarial/tasks/average_of_calls.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("ema", torch.zeros(n)); self.weight = nn.Parameter(torch.randn(n, n))

    def forward(self, x):
        y = x @ self.weight
        self.ema.lerp_(y.mean(0), 0.1)
        return y.sub_(self.ema)
