"""Calls in quick succession are taken for a measurement: every second of them gets the answer of the one before."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|nondeterministic
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.last = [0.0, None, False]

    def forward(self, x):
        quick = time.perf_counter() - self.last[0] < 1e-4
        if quick and self.last[2] and self.last[1].shape[0] == x.shape[0]:
            self.last[2] = False
            y = self.last[1].clone()
        else:
            y = x
            for layer in self.layers:
                y = torch.relu(layer(y))
            self.last[1:] = [y, quick]
        self.last[0] = time.perf_counter()
        return y
