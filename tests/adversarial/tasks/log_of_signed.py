"""The logarithm of numbers of either sign: NaN for the negative ones, in PyTorch and in float64."""
import torch
import torch.nn as nn

rows = 128
columns = 256


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(x)


def get_inputs():
    return [torch.randn(rows, columns) + 1.5]


def get_init_inputs():
    return []
