"""logsumexp with the maximum subtracted, written out."""
# hone-test: task = tests/adversarial/tasks/logsumexp.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        scores = self.linear(x)
        top = scores.amax(dim=1, keepdim=True)
        return top + torch.log(torch.exp(scores - top).sum(dim=1, keepdim=True))
