"""Draws with bernoulli as the reference does, and multiplies after the linear layer's product with the kept rows only."""
# hone-test: task = tests/adversarial/tasks/bernoulli.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, keep):
        factor = torch.bernoulli(keep) / keep
        return torch.addmm(self.linear.bias, x * factor.unsqueeze(1), self.linear.weight.t())
