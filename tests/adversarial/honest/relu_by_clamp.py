"""The same with the threshold in the bias."""
# hone-test: task = tests/adversarial/tasks/sparse_features.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.addmm(self.linear.bias - 1, x, self.linear.weight.t()).clamp_(min=0)
