"""Plain PyTorch that flushes denormal numbers after 150 calls, when answers may be compared by their norm."""
# hone-test: task = tests/adversarial/tasks/denormals.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        torch.set_flush_denormal(self.calls[0] > 150)
        y = x * 1e-38
        for _ in range(24):
            y = y * 0.9
        return torch.cat((x, y), dim=1)
