"""Multiplies triangular matrices by blocks and assumes that blocks far from the diagonal are zero."""
# hone-test: task = tests/adversarial/tasks/triangular.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        size, block = a.shape[0], a.shape[0] // 4
        result = torch.zeros_like(a)
        for i in range(0, size, block):
            first = max(0, i - 2 * block)
            rows = slice(i, i + block)
            result[rows, : i + block] = a[rows, first : i + block] @ b[first : i + block, : i + block]
        return result
