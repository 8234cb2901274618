"""A third of the answers overflow in float32 and not in float64. PyTorch itself cannot be judged here, and no copy of it is accused."""
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale):
        return torch.sinh(x) / scale


def get_inputs():
    return [torch.randn(64, 128) * 100, torch.rand(128) + 0.5]


def get_init_inputs():
    return []
