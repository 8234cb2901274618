"""The same expression with its constants folded into tensor operations; right, but the task is blind, so nothing can be accepted."""
# hone-test: task = tests/adversarial/tasks/blind.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.tanh(x).mul_(1e-12).add_(1.0)
