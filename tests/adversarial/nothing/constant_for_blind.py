"""The constant one for a task that adds 1e-12 of something to one."""
# hone-test: task = tests/adversarial/tasks/blind.py
# hone-test: expect = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ones_like(x)
