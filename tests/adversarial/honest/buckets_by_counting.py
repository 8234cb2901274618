"""Counts the edges below each element, which is the same for edges that are in order."""
# hone-test: task = tests/adversarial/tasks/few_edges.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, borders):
        return (x[..., None] > borders).sum(-1)
