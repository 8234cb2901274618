"""Right in the first call. The moving average is computed and not kept."""
# hone-test: task = tests/adversarial/tasks/average_of_calls.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("ema", torch.zeros(n)); self.weight = nn.Parameter(torch.randn(n, n))

    def forward(self, x):
        y = x @ self.weight
        return y - (self.ema * 0.9 + y.mean(0) * 0.1)
