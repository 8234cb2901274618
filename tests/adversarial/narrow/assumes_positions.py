"""Adds the table as it stands, without a look at the positions."""
# hone-test: task = tests/adversarial/tasks/positions_input.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, steps, features):
        super().__init__()
        self.table = nn.Embedding(steps, features)

    def forward(self, x, positions):
        return x + self.table.weight
