"""Has the Python numbers of the inputs at hand baked in, and ignores those it is given."""
# hone-test: task = tests/adversarial/tasks/scalar_inputs.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, alpha, power, flip, mask):
        y = torch.tanh(self.linear(x))
        return (0.75 * y * y * y).flip(1)
