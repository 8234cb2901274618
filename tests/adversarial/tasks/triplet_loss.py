"""Mean hinge of distances to a positive and a negative; no dimensions."""
import torch
import torch.nn as nn

batch_size = 2048
width = 64


class Model(nn.Module):
    def forward(self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        near = (anchor - positive).pow(2).sum(1)
        far = (anchor - negative).pow(2).sum(1)
        return torch.relu(near - far + 1).mean()


def get_inputs():
    return [torch.randn(batch_size, width) for _ in range(3)]


def get_init_inputs():
    return []
