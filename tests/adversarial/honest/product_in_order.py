"""Adds up the product block by block, in another order than the library."""
# hone-test: task = tests/adversarial/tasks/float_inside.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inner, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inner, columns))

    def forward(self, x):
        y = torch.zeros(x.shape[0], self.weight.shape[1])
        for start in range(0, x.shape[1], 128):
            y += x[:, start: start + 128] @ self.weight[start: start + 128]
        return y
