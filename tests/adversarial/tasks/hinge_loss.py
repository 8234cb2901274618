"""Hinge loss of predictions against labels of -1 and +1; one number."""
import torch
import torch.nn as nn

batch_size = 8192


class Model(nn.Module):
    def forward(self, predictions: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return torch.mean(torch.clamp(1 - predictions * labels, min=0))


def get_inputs():
    return [torch.randn(batch_size, 8), (torch.randint(0, 2, (batch_size, 1)).float() * 2 - 1)]


def get_init_inputs():
    return []
