"""log(sum(exp(x))) without subtracting the maximum: infinite as soon as a score passes 88."""
# hone-test: task = tests/adversarial/tasks/logsumexp.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.log(torch.exp(self.linear(x)).sum(dim=1, keepdim=True))
