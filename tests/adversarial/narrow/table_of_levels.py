"""Looks the curve up in a table of the 256 levels that get_inputs draws."""
# hone-test: task = tests/adversarial/tasks/colour_levels.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, image):
        table = torch.sigmoid(4 * (torch.arange(256) / 255) - 2) ** 2.2
        return table[(image * 255).round().long().clamp(0, 255)]
