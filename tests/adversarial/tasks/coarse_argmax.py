"""The place of the largest of coarse numbers. Many rows have ties."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, -1)


def get_inputs():
    return [torch.randn(256, 64).mul(2).round()]


def get_init_inputs():
    return []
