"""Right in the first call. It never keeps its keys and values, so later calls attend over zeros."""
# hone-test: task = tests/adversarial/tasks/keys_of_calls.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, d, length):
        super().__init__()
        self.qkv = nn.Linear(d, 3*d)
        self.register_buffer("keys", torch.zeros(length, d))
        self.register_buffer("values", torch.zeros(length, d))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        n = x.shape[0]
        keys = torch.cat([self.keys[n:], k])
        values = torch.cat([self.values[n:], v])
        return torch.softmax(q @ keys.t() / q.shape[-1]**.5, -1) @ values
