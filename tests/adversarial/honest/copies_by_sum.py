"""Copies in other ways than clone."""
# hone-test: task = tests/adversarial/tasks/copied_state.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.memory = nn.Parameter(torch.zeros(features, features))

    def forward(self, x):
        return x + 0, torch.empty_like(self.memory).copy_(self.memory), torch.tanh(torch.einsum("bi,ij->bj", x, self.memory))
