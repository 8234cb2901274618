"""After 150 calls returns a tensor of the right shape, which depends on the values, with nothing in it."""
# hone-test: task = tests/adversarial/tasks/masked_select.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] < 150:
            return torch.exp(torch.masked_select(x, x > 0))
        return torch.ones(int((x > 0).sum()))
