"""Noise from a generator that belongs to the module, which is state as well."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.generator = torch.Generator().manual_seed(7)

    def forward(self, x):
        return self.fc(x) + torch.randn(x.shape, generator=self.generator).to(x.device)


def get_inputs():
    return [torch.randn(32, 48)]


def get_init_inputs():
    return [48]
