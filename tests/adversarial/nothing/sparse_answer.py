"""Returns a sparse tensor where the task returns a dense one: most code that takes the answer fails on it."""
# hone-test: task = tests/adversarial/tasks/sparse_features.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.relu(self.linear(x) - 1).to_sparse()
