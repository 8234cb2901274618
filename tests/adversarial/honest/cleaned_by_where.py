"""Replaces what is not finite with two selections."""
# hone-test: task = tests/adversarial/tasks/cleaned_input.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        x = torch.where(x != x, torch.zeros_like(x), x)
        x = torch.where(x.abs() == float("inf"), x.sign(), x)
        return torch.relu(self.linear(x))
