"""Ones for the sum of a softmax: within rounding for every input, and blind."""
# hone-test: task = tests/adversarial/tasks/sum_of_softmax.py
# hone-test: expect = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.ones(x.shape[0], device=x.device)
