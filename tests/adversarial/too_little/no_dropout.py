"""Leaves dropout out, as if the task were in eval mode; the task draws in eval mode too."""
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
        return self.second(torch.relu(self.first(x)))
