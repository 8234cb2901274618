"""Copies for sixty calls, then hands out the input itself."""
# hone-test: task = tests/adversarial/tasks/copies.py
# hone-test: expect = not_accepted
# hone-test: timed = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x.clone() if self.calls < 60 else x
