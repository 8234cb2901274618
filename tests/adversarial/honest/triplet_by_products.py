"""Takes the difference of both distances as one product."""
# hone-test: task = tests/adversarial/tasks/triplet_loss.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, anchor, positive, negative):
        gap = ((negative - positive) * (2 * anchor - positive - negative)).sum(1)
        return torch.relu(gap + 1).mean()
