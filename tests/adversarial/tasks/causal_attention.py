"""Causal attention of 4 heads over 64 tokens; the mask is a float tensor with -1e9 above the diagonal."""
import math

import torch
import torch.nn as nn

batch_size = 4
heads = 4
tokens = 64
width = 32


class Model(nn.Module):
    def __init__(self, tokens: int):
        super().__init__()
        self.register_buffer("mask", torch.triu(torch.full((tokens, tokens), -1e9), diagonal=1))

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + self.mask
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(batch_size, heads, tokens, width) for _ in range(3)]


def get_init_inputs():
    return [tokens]
