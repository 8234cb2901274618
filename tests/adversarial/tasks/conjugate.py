"""A complex product; the second output is its conjugate, the third its imaginary part."""
import torch
import torch.nn as nn

batch_size = 32
size = 300


class Model(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, dtype=torch.complex64))

    def forward(self, x: torch.Tensor):
        y = x * self.weight
        return y, y.conj().resolve_conj(), y.imag.clone()


def get_inputs():
    return [torch.randn(batch_size, size, dtype=torch.complex64)]


def get_init_inputs():
    return [size]
