"""Reads a channels-last image as if it were contiguous."""
# hone-test: task = tests/adversarial/tasks/transposed_input.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, image, matrix):
        n, c, h, w = image.shape
        flat = torch.as_strided(image, image.shape, (c * h * w, h * w, w, 1))
        return torch.relu(self.conv(flat)), matrix @ matrix.t()
