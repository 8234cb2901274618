"""Adds a correction where the mean of a row exceeds a bound that no row at hand reaches."""
import torch
import torch.nn as nn

batch_size = 64
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return torch.where(y.abs().amax(-1, keepdim=True) > 1e5, y / 7.0, y)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
