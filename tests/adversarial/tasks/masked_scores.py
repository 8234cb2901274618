"""Attention scores with -1e9 where a boolean mask says so; the scores themselves are the output."""
import torch
import torch.nn as nn

batch_size = 8
tokens = 96
width = 48


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return (q @ k.transpose(-2, -1)).masked_fill(~keep, -1e9)


def get_inputs():
    keep = torch.rand(batch_size, tokens, tokens) < 0.7
    return [torch.randn(batch_size, tokens, width), torch.randn(batch_size, tokens, width), keep]


def get_init_inputs():
    return []
