"""A linear layer and a ReLU that leaves few of its elements."""
import torch
import torch.nn as nn

batch_size = 32
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x) - 1)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
