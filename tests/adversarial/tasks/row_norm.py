"""Divides every row by its norm."""
import torch
import torch.nn as nn

rows = 256
columns = 512


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.sqrt((x * x).sum(dim=1, keepdim=True) + 1e-6)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
