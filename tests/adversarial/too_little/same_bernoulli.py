"""Draws the rows to keep once and uses the same ones ever after."""
# hone-test: task = tests/adversarial/tasks/bernoulli.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.drawn = None

    def forward(self, x, keep):
        if self.drawn is None:
            self.drawn = [torch.bernoulli(keep)]
        return self.linear(x * (self.drawn[0] / keep).unsqueeze(1))
