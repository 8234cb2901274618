"""The running sum as a product with a triangle of ones."""
# hone-test: task = tests/adversarial/tasks/huge_doubles.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return (x @ torch.ones(x.shape[1], x.shape[1], dtype=x.dtype).triu_()) * 1e200
