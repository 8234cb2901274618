"""Answers a batch without rows with one row."""
# hone-test: task = tests/adversarial/tasks/empty_variant.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.relu(self.linear(x if x.shape[0] else x.new_zeros(1, x.shape[1])))
        return y, y.mean(dim=1)
