"""Returns an object that turns into the right tuple when asked; code that indexes the answer fails."""
# hone-test: task = tests/adversarial/tasks/empty_variant.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape
import torch
import torch.nn as nn


class Answer:
    def __init__(self, make):
        self.make = make

    def to_tuple(self):
        return self.make()


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return Answer(lambda: (y, y.mean(dim=1)))
