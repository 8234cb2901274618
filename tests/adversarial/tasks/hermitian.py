"""Eigenvalues of random Hermitian matrices."""
import torch
import torch.nn as nn

batch_size = 4
size = 24


class Model(nn.Module):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.linalg.eigvalsh(a)


def get_inputs():
    a = torch.randn(batch_size, size, size, dtype=torch.complex64)
    return [a + a.mH]


def get_init_inputs():
    return []
