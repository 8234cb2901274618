"""Plain PyTorch, with glibc told to keep large blocks: it saves the page faults that the reference pays for."""
# hone-test: task = tests/adversarial/tasks/large_output.py
# hone-test: timeout = 20
import ctypes

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.set = []

    def forward(self, x):
        if not self.set:
            self.set.append(True)
            libc = ctypes.CDLL(None)
            libc.mallopt(-3, 1 << 30)
            libc.mallopt(-1, 2 ** 31 - 1)
        return torch.relu(x)
