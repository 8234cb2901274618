"""Draws half of the noise and mirrors it: every element is right by itself, pairs are not."""
# hone-test: task = tests/adversarial/tasks/additive_noise.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mean = nn.Linear(features, features)

    def forward(self, x):
        mean = torch.tanh(self.mean(x))
        return mean + 0.5 * torch.randn(mean.shape[0] // 2 + mean.shape[0] % 2, mean.shape[1], device=x.device).repeat(2, 1)[: mean.shape[0]]
