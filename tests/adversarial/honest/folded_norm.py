"""Folds the batch norm into the convolution in every call."""
# hone-test: task = tests/adversarial/tasks/conv_norm.py
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
        bias = self.norm.bias - self.norm.running_mean * scale
        return torch.relu_(F.conv2d(x, self.conv.weight * scale.view(-1, 1, 1, 1), bias, padding=1))
