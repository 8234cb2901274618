"""Attention with dropout of the scores."""
import torch
import torch.nn as nn

heads = 4
steps = 32
width = 16


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.2)


def get_inputs():
    return [torch.randn(heads, steps, width) for _ in range(3)]


def get_init_inputs():
    return []
