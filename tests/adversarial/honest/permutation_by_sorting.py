"""Draws its permutation as the order of uniform numbers."""
# hone-test: task = tests/adversarial/tasks/permuted_rows.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x + x[torch.rand(x.shape[0], dtype=torch.float64).argsort()]
