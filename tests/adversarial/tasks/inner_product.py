"""An inner product: terms cancel, so that the answer may be near zero."""
import torch
import torch.nn as nn

size = 20000


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y).sum()


def get_inputs():
    return [torch.randn(size), torch.randn(size)]


def get_init_inputs():
    return []
