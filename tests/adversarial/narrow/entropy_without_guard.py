"""p log p, which is NaN where a probability is zero."""
# hone-test: task = tests/adversarial/tasks/entropy.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, p):
        return -(p * torch.log(p)).sum(-1)
