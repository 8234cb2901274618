"""Rotates pairs as complex numbers."""
# hone-test: task = tests/adversarial/tasks/rotary.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("frequencies", torch.zeros(width // 2))

    def forward(self, q):
        angles = torch.arange(q.shape[1]).float()[:, None] * self.frequencies
        pairs = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
