"""argmax through max, which names the first of equal values too."""
# hone-test: task = tests/adversarial/tasks/argmax.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.max(x, dim=1).indices
