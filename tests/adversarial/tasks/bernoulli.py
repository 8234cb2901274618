"""Drops whole rows with a Bernoulli draw of given probabilities, then a linear layer."""
import torch
import torch.nn as nn

batch_size = 256
features = 128


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return self.linear(x * torch.bernoulli(keep).unsqueeze(1) / keep.unsqueeze(1))


def get_inputs():
    return [torch.randn(batch_size, features), 0.5 + 0.4 * torch.rand(batch_size)]


def get_init_inputs():
    return [features]
