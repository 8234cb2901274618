"""Answers every call as if it were the first."""
# hone-test: task = tests/adversarial/tasks/ramp_of_calls.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(x) * 0.1
