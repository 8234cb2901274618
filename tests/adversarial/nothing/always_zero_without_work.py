"""Zeros for a task whose answer is zero for every input: right, but nothing can show that anything was computed."""
# hone-test: task = tests/adversarial/tasks/always_zero.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.zeros(x.shape[0], 1, device=x.device)
