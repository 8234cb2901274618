"""Subtracts a moving average that every call updates."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("ema", torch.zeros(n)); self.weight = nn.Parameter(torch.randn(n, n) / n**.5)

    def forward(self, x):
        y = x @ self.weight
        self.ema.mul_(0.9).add_(y.mean(0), alpha=0.1)
        return y - self.ema


def get_inputs():
    return [torch.randn(64, 96)]


def get_init_inputs():
    return [96]
