"""Leaves the tensor of the caller as it was, where the task adds to it in place. The judge allows both."""
# hone-test: task = tests/adversarial/tasks/in_place.py
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return x + torch.relu(self.linear(x))
