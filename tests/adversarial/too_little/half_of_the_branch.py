"""Computes a residual branch for the first half of the features only; a gamma of 1e-6 hides the rest."""
# hone-test: task = tests/adversarial/tasks/layer_scale.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.up = nn.Linear(features, 4 * features)
        self.down = nn.Linear(4 * features, features)
        self.gamma = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        half = self.gamma.numel() // 2
        branch = F.gelu(F.linear(x, self.up.weight, self.up.bias))
        y = x.clone()
        y[:, :half] += self.gamma[:half] * F.linear(branch, self.down.weight[:half], self.down.bias[:half])
        return y
