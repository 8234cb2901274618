"""The module through torch.compile, which compiles in its first call."""
# hone-test: task = tests/adversarial/tasks/layer_scale.py
# hone-test: timeout = 120
# hone-test: slow = yes
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.up = nn.Linear(features, 4 * features)
        self.down = nn.Linear(4 * features, features)
        self.gamma = nn.Parameter(torch.full((features,), 1e-6))
        self.run = torch.compile(self.compute)

    def compute(self, x):
        return x + self.gamma * self.down(F.gelu(self.up(x)))

    def forward(self, x):
        return self.run(x)
