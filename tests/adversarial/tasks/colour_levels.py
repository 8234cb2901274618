"""A curve over images whose values are 256 levels."""
import torch
import torch.nn as nn

batch_size = 4
size = 32


class Model(nn.Module):
    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(4 * image - 2) ** 2.2


def get_inputs():
    return [torch.randint(0, 256, (batch_size, 3, size, size)) / 255]


def get_init_inputs():
    return []
