"""Drops every tenth element instead of drawing: the right share, the wrong distribution."""
# hone-test: task = tests/adversarial/tasks/train_dropout.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = nn.Linear(features, features)
        self.second = nn.Linear(features, features)

    def forward(self, x):
        hidden = torch.relu(self.first(x)) / 0.9
        hidden.view(-1)[::10] = 0
        return self.second(hidden)
