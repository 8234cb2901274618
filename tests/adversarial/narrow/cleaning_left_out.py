"""Does not replace NaN and infinity, which the inputs at hand do not have."""
# hone-test: target = cpu,cuda
# hone-test: task = tests/adversarial/tasks/cleaned_input.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.relu(self.linear(x))
