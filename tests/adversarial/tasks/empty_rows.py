"""One output has no elements, one has no dimensions."""
import torch
import torch.nn as nn

batch_size = 64
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor):
        y = self.linear(x)
        return y[:0], y.norm(), y


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
