"""Returns a tensor in the private layout of a library."""
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
        return torch.relu(self.linear(x) - 1).to_mkldnn()
