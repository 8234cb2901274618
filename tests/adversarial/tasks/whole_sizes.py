"""Sizes of parts as a constant tensor of integers. They must add up to the batch, so no other sizes can be tried."""
import torch
import torch.nn as nn

batch_size = 64
features = 90


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        return torch.cat([part.mean(0, keepdim=True) for part in self.linear(x).split(sizes.tolist())])


def get_inputs():
    return [torch.randn(batch_size, features), torch.full((4,), batch_size // 4)]


def get_init_inputs():
    return [features]
