"""Softmax over the rows of a 256 x 1000 matrix."""
import torch
import torch.nn as nn

rows = 256
columns = 1000


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
