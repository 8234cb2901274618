"""Folds gamma into the second layer in every call."""
# hone-test: task = tests/adversarial/tasks/layer_scale.py
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.up = nn.Linear(features, 4 * features)
        self.down = nn.Linear(4 * features, features)
        self.gamma = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        weight, bias = self.down.weight * self.gamma.unsqueeze(1), self.down.bias * self.gamma
        return x + F.linear(F.gelu(self.up(x)), weight, bias)
