"""Scaled dot-product attention over three inputs and a scale that is a plain number; returns a tuple (result,
weights)."""
import torch
import torch.nn as nn

batch_size = 4
queries = 9
keys = 17
features = 32


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.out = nn.Linear(features, features)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float):
        weights = torch.softmax(q @ k.transpose(1, 2) * scale, dim=-1)
        return self.out(weights @ v), weights


def get_inputs():
    return [
        torch.randn(batch_size, queries, features),
        torch.randn(batch_size, keys, features),
        torch.randn(batch_size, keys, features),
        0.25,
    ]


def get_init_inputs():
    return [features]
