"""Attention with a mask that is an input and always causal."""
import torch
import torch.nn as nn

heads = 4
steps = 48
width = 32


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def get_inputs():
    q, k, v = (torch.randn(heads, steps, width) for _ in range(3))
    return [q, k, v, torch.ones(steps, steps).tril().bool()]


def get_init_inputs():
    return []
