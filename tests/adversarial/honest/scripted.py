"""The module through torch.jit.script."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
import torch
import torch.nn as nn


class Chain(nn.Module):
    def __init__(self, features: int, layers: int):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def ModelNew_of(features, layers):
    return torch.jit.script(Chain(features, layers))


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.inner = ModelNew_of(features, layers)

    def load_reference(self, state):
        self.inner.load_state_dict(state)

    def forward(self, x):
        return self.inner(x)
