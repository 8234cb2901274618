"""Draws the mask before the noise, where the task draws it after: the same distribution, other draws."""
# hone-test: task = tests/adversarial/tasks/random_forward.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        kept = (torch.rand(x.shape, device=x.device) < 0.75).to(x.dtype) / 0.75
        return (self.linear(x) + 0.1 * torch.randn(x.shape, device=x.device)) * kept
