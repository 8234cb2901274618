"""A product whose results lie around 1e-32, near the smallest that float32 holds in full."""
import torch
import torch.nn as nn

batch_size = 64
features = 96


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, features) * 1e-16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 1e-16) @ self.weight


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
