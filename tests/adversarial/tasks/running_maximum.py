"""The largest number so far along every row, and where it was."""
import torch
import torch.nn as nn

rows = 32
columns = 777


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        values, places = torch.cummax(x, dim=-1)
        return values, places


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
