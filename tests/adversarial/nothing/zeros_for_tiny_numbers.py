"""Zeros, which no absolute tolerance tells from 1e-32."""
# hone-test: task = tests/adversarial/tasks/tiny_numbers.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, features))

    def forward(self, x):
        return torch.zeros_like(x)
