"""A linear layer with a low-rank update whose second factor is zero as initialised."""
import torch
import torch.nn as nn

batch_size = 64
features = 256
rank = 16


class Model(nn.Module):
    def __init__(self, features: int, rank: int):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.lora_a = nn.Parameter(torch.randn(rank, features) / rank)
        self.lora_b = nn.Parameter(torch.zeros(features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + (x @ self.lora_a.t()) @ self.lora_b.t()


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features, rank]
