"""Skips the work in one call of fifty, drawn at random, and returns the answer of the call before."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: target = cpu,cuda
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.last = {}

    def forward(self, x):
        if x.shape in self.last and os.urandom(1)[0] < 5:
            return self.last[x.shape].clone()
        y = x
        for layer in self.layers:
            y = torch.relu(layer(y))
        self.last[x.shape] = y
        return y
