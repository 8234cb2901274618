"""A linear layer clamped to the range of float16, which the inputs at hand do not reach."""
import torch
import torch.nn as nn

batch_size = 64
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(self.linear(x), -65504.0, 65504.0)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
