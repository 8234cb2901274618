"""A deep product whose inputs are one of six batches."""
# hone-test: copy = correct
import torch
import torch.nn as nn

batch_size = 64
features = 256
batches = torch.randn(6, batch_size, features, generator=torch.Generator().manual_seed(7))


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(6):
            x = torch.tanh(self.linear(x))
        return x


def get_inputs():
    return [batches[int(torch.randint(0, 6, ()))].clone()]


def get_init_inputs():
    return [features]
