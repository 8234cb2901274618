"""Multiplies by random factors of a gamma distribution."""
import torch
import torch.nn as nn

rows = 64
columns = 128


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.distributions.Gamma(1.0 + x.abs(), torch.ones_like(x)).sample()


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
