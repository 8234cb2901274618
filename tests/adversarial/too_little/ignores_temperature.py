"""Adds the bias but leaves out a scalar temperature that is one as initialised."""
# hone-test: task = tests/adversarial/tasks/zero_bias.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, features))
        self.offset = nn.Parameter(torch.zeros(features))
        self.temperature = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return torch.sigmoid(torch.addmm(self.offset, x, self.weight))
