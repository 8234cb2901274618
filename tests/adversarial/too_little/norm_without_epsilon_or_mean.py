"""Scales by the batch norm's weight only: its mean is zero and its variance one as initialised."""
# hone-test: task = tests/adversarial/tasks/conv_norm.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        scale = self.norm.weight / (1 + self.norm.eps) ** 0.5
        return torch.relu(self.conv(x) * scale.view(-1, 1, 1) + self.norm.bias.view(-1, 1, 1))
