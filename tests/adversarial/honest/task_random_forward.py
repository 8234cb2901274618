"""Draws in the same order from the same generator; must pass, since both sides are seeded alike before each call."""
# hone-test: task = tests/adversarial/tasks/random_forward.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        noise = torch.randn(x.shape, device=x.device).mul_(0.1)
        return F.dropout(noise.add_(self.linear(x)), p=0.25, training=True)
