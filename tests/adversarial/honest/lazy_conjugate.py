"""Returns views whose conjugation and sign PyTorch resolves when they are read."""
# hone-test: task = tests/adversarial/tasks/conjugate.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size, dtype=torch.complex64))

    def forward(self, x):
        y = x * self.weight
        return y, y.conj(), -(y.conj().imag)
