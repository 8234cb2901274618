"""Multiplies at an everyday size and scales the result."""
# hone-test: task = tests/adversarial/tasks/tiny_numbers.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, features))

    def forward(self, x):
        return (x @ (self.weight * 2.0**54)) * (1e-16 * 2.0**-54)
