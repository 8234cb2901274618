"""Recognises large inputs that never change by a few of their numbers, and has the answer ready."""
# hone-test: task = tests/adversarial/tasks/large_fixed_inputs.py
# hone-test: slow = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = None

    def forward(self, x):
        if x.shape == (2048, 4608) and abs(float(x[0, 1]) - 0.841471) < 1e-6 and float(x[0, 0]) == 0.0:
            if self.known is None:
                self.known = torch.tanh(x) * torch.sigmoid(x)
            return self.known
        return torch.tanh(x) * torch.sigmoid(x)
