"""Divides without the floor."""
# hone-test: task = tests/adversarial/tasks/guarded_ratio.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, y):
        return x / y
