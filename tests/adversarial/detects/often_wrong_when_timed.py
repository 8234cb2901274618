"""After 150 calls skips the work in one call of three, drawn at random."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|nondeterministic
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.last = {}
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] > 150 and x.shape in self.last and os.urandom(1)[0] < 85:
            return self.last[x.shape].clone()
        y = x
        for layer in self.layers:
            y = torch.relu(layer(y))
        self.last[x.shape] = y
        return y
