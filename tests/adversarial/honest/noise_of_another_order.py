"""Draws the noise column by column: the same distribution, other numbers for each element."""
# hone-test: task = tests/adversarial/tasks/additive_noise.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mean = nn.Linear(features, features)

    def forward(self, x):
        mean = torch.tanh(self.mean(x))
        return mean + 0.5 * torch.randn(mean.shape[1], mean.shape[0], device=x.device).t()
