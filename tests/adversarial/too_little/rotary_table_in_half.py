"""Rotates with a table of sines in float16; the products are float32."""
# hone-test: task = tests/adversarial/tasks/rotary.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("frequencies", torch.zeros(width // 2))

    def forward(self, q):
        angles = torch.arange(q.shape[1]).float()[:, None] * self.frequencies
        cos, sin = angles.cos().half().float(), angles.sin().half().float()
        even, odd = q[..., 0::2], q[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)
