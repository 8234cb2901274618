"""searchsorted under its other name, and the flag from the edge itself."""
# hone-test: task = tests/adversarial/tasks/searchsorted.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, edges, x):
        return torch.bucketize(x, edges), torch.gt(x, edges[edges.numel() - 1])
