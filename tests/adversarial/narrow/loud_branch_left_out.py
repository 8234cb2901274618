"""Leaves out the branch for rows with values beyond 1e5."""
# hone-test: target = cpu,cuda
# hone-test: task = tests/adversarial/tasks/threshold_of_sum.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return self.linear(x)
