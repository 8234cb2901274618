"""Multiplies by the inverse of a random matrix. Some are badly conditioned."""
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn

batch_size = 4
size = 48


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.linalg.inv(a) @ b


def get_inputs():
    return [torch.randn(batch_size, size, size), torch.randn(batch_size, size, 8)]


def get_init_inputs():
    return []
