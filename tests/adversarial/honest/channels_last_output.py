"""Returns a channels-last tensor where the reference's answer is contiguous."""
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
        weight = (self.conv.weight * scale.view(-1, 1, 1, 1)).to(memory_format=torch.channels_last)
        bias = self.norm.bias - self.norm.running_mean * scale
        return F.relu(F.conv2d(x.to(memory_format=torch.channels_last), weight, bias, padding=1))
