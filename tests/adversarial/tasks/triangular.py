"""Product of two lower triangular matrices, which is lower triangular."""
import torch
import torch.nn as nn

size = 384


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.tril(torch.matmul(a, b))


def get_inputs():
    return [torch.tril(torch.rand(size, size)), torch.tril(torch.rand(size, size))]


def get_init_inputs():
    return []
