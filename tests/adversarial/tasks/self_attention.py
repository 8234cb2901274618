"""Attention whose query, key and value are one tensor."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, h, batch_first=True)

    def forward(self, q, k, v):
        return self.attention(q, k, v, need_weights=False)[0]


def get_inputs():
    x = torch.randn(4, 16, 32)
    return [x, x, x]


def get_init_inputs():
    return [32, 4]
