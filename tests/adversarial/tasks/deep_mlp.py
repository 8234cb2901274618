"""Twelve linear layers with ReLU, a chain of many small calls."""
import torch
import torch.nn as nn

batch_size = 32
features = 128
layers = 12


class Model(nn.Module):
    def __init__(self, features: int, layers: int):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features, layers]
