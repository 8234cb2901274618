"""Rotary position embedding of queries."""
import torch
import torch.nn as nn

batch_size = 8
steps = 96
width = 64


class Model(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.register_buffer("frequencies", 10000.0 ** (-torch.arange(0, width, 2) / width))

    def forward(self, q: torch.Tensor) -> torch.Tensor:
        angles = torch.arange(q.shape[1]).to(q)[:, None] * self.frequencies
        cos, sin = angles.cos(), angles.sin()
        even, odd = q[..., 0::2], q[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def get_inputs():
    return [torch.randn(batch_size, steps, width)]


def get_init_inputs():
    return [width]
