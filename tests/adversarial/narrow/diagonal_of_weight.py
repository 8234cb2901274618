"""Uses the diagonal of a weight that is the identity as initialised; scaling it changes nothing."""
# hone-test: task = tests/adversarial/tasks/identity_weight.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return x * self.linear.weight.diagonal() + self.linear.bias
