"""Plain PyTorch with denormal numbers flushed to zero for the whole process."""
# hone-test: task = tests/adversarial/tasks/denormals.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        torch.set_flush_denormal(True)
        y = x * 1e-38
        for _ in range(24):
            y = y * 0.9
        return torch.cat((x, y), dim=1)
