"""Multiplies by the probabilities instead of drawing: right on average, wrong in every row."""
# hone-test: task = tests/adversarial/tasks/bernoulli.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, keep):
        return self.linear(x)
