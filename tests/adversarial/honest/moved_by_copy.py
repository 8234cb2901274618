"""Moves the channels into memory of its own, as a batch of transposed matrices."""
# hone-test: task = tests/adversarial/tasks/moved_axis.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        batch, channels, height, width = x.shape
        y = torch.empty(batch, height, width, channels)
        y.view(batch, height * width, channels).copy_(x.reshape(batch, channels, height * width).transpose(1, 2))
        return y
