"""Computes the table in its first call and hands out that from then on."""
# hone-test: task = tests/adversarial/tasks/no_inputs.py
# hone-test: expect = not_accepted
# hone-test: reason = cannot_judge
# hone-test: timed = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.freq = nn.Parameter(torch.rand(d))
        self.n = n
        self.kept = None

    def forward(self):
        if self.kept is None:
            a = torch.arange(self.n)[:, None] * self.freq
            self.kept = torch.cat([a.sin(), a.cos()], -1)
        return self.kept
