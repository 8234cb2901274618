"""The same curve by one exponential and one power."""
# hone-test: task = tests/adversarial/tasks/colour_levels.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, image):
        return torch.exp(2 - 4 * image).add_(1).pow_(-2.2)
