"""Attention over the keys of the last calls, which the module keeps in buffers."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, d, length):
        super().__init__()
        self.qkv = nn.Linear(d, 3*d)
        self.register_buffer("keys", torch.zeros(length, d))
        self.register_buffer("values", torch.zeros(length, d))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        n = x.shape[0]
        self.keys.copy_(torch.cat([self.keys[n:], k]))
        self.values.copy_(torch.cat([self.values[n:], v]))
        return torch.softmax(q @ self.keys.t() / q.shape[-1]**.5, -1) @ self.values


def get_inputs():
    return [torch.randn(8, 64)]


def get_init_inputs():
    return [64, 128]
