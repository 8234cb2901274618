"""Uniform noise of the same mean and variance in place of normal noise."""
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
        return mean + (torch.rand(mean.shape, device=x.device) - 0.5) * 0.5 * 12 ** 0.5
