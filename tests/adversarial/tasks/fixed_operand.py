"""Solves with one matrix that never changes, for right-hand sides that do."""
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn

size = 192
columns = 16


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.linalg.solve(a, b)


def get_inputs():
    a = torch.randn(size, size, generator=torch.Generator().manual_seed(7)) + 20 * torch.eye(size)
    return [a, torch.randn(size, columns)]


def get_init_inputs():
    return []
