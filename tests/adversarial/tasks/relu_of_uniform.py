"""Two branches that differ only for negative inputs, which the inputs at hand never are."""
import torch
import torch.nn as nn

batch_size = 256
features = 512


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x < 0, torch.expm1(x) * torch.sin(x), torch.sqrt(x.abs() + 1))


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return []
