"""Draws one of the rotations: every row goes everywhere, but rows stay neighbours."""
# hone-test: task = tests/adversarial/tasks/permuted_rows.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x + x.roll(int(torch.randint(0, x.shape[0], (1,))), 0)
