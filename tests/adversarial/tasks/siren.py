"""A SIREN: five layers of sin(30 (W x + b)). float32 loses digits in every sine, and the output is small."""
# hone-test: reason = cannot_judge  PyTorch's own error may be too large
import math

import torch
import torch.nn as nn

points = 2048
features = 64


class Sine(nn.Module):
    def __init__(self, inner: int, outer: int, first: bool):
        super().__init__()
        self.linear = nn.Linear(inner, outer)
        bound = 1 / inner if first else math.sqrt(6 / inner) / 30
        nn.init.uniform_(self.linear.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(30 * self.linear(x))


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.layers = nn.Sequential(Sine(2, features, True), *[Sine(features, features, False) for _ in range(4)])
        self.last = nn.Linear(features, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1e-3 * self.last(self.layers(x))


def get_inputs():
    return [torch.rand(points, 2) * 2 - 1]


def get_init_inputs():
    return [features]
