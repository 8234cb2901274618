"""Puts new tensors in the place of its buffers instead of writing into them."""
# hone-test: task = tests/adversarial/tasks/keys_of_calls.py
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, d, length):
        super().__init__()
        self.qkv = nn.Linear(d, 3*d)
        self.register_buffer("keys", torch.zeros(length, d))
        self.register_buffer("values", torch.zeros(length, d))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        n = len(x)
        self.keys = torch.cat([self.keys[n:], k])
        self.values = torch.cat([self.values[n:], v])
        return F.scaled_dot_product_attention(q[None], self.keys[None], self.values[None])[0]
