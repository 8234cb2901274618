"""Returns the product twice, where the second output is its conjugate."""
# hone-test: task = tests/adversarial/tasks/conjugate.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size, dtype=torch.complex64))

    def forward(self, x):
        y = x * self.weight
        return y, y, y.imag.clone()
