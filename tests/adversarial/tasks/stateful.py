"""A leaky accumulator: every call moves a state tensor kept in the module, so the n-th answer depends on all calls
before."""
import torch
import torch.nn as nn

batch_size = 8
features = 64


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.state = torch.zeros(batch_size, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state = 0.5 * self.state.to(x.device) + self.linear(x)
        return torch.tanh(self.state)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
