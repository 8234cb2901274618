"""Folds a batch norm into the convolution and forgets the norm's bias, which is zero as initialised."""
# hone-test: task = tests/adversarial/tasks/conv_norm.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        scale = self.norm.weight * torch.rsqrt(self.norm.running_var + self.norm.eps)
        weight = self.conv.weight * scale.view(-1, 1, 1, 1)
        return torch.relu(F.conv2d(x, weight, -self.norm.running_mean * scale, padding=1))
