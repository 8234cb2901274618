"""argmax over rows of a few distinct values, so that every row has ties; int64 output."""
import torch
import torch.nn as nn

rows = 256
columns = 512


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argmax(x, dim=1)


def get_inputs():
    return [torch.randint(0, 9, (rows, columns)).float() / 8]


def get_init_inputs():
    return []
