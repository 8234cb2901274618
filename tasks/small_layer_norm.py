"""Layer norm with weight and bias over the last axis of a 16 x 32 x 384 tensor."""
import torch
import torch.nn as nn

batch_size = 16
tokens = 32
features = 384


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch_size, tokens, features)]


def get_init_inputs():
    return [features]


def get_variants():
    return {
        "one_row": lambda: [torch.randn(1, 1, features)],
        "odd_batch": lambda: [torch.randn(7, 13, features)],
        "flat": lambda: [torch.randn(33, features)],
    }
