"""Clamps by a minimum and a maximum."""
# hone-test: task = tests/adversarial/tasks/clamped_product.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        limit = torch.tensor(65504.0)
        return torch.minimum(torch.maximum(self.linear(x), -limit), limit)
