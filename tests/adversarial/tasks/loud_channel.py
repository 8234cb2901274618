"""A linear layer of which one output channel is a million times louder than the others."""
import torch
import torch.nn as nn

batch_size = 128
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.register_buffer("gain", torch.ones(features))
        self.gain[17] = 1e6

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x)) * self.gain


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
