"""Multiplies only the blocks below the diagonal, since triangular inputs have zeros above it."""
# hone-test: task = tests/adversarial/tasks/triangular.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        size, block = a.shape[0], 96
        result = torch.zeros_like(a)
        for i in range(0, size, block):
            end = min(i + block, size)
            result[i:end, :end] = a[i:end, :end] @ b[:end, :end]
        return result
