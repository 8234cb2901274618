"""Plain PyTorch that keeps both cores busy for its first three seconds, when baselines may be measured."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
import os
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 2:
            for _ in range(os.cpu_count()):
                if os.fork() == 0:
                    end = time.monotonic() + 6
                    while time.monotonic() < end:
                        pass
                    os._exit(0)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x
