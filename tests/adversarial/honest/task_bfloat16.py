"""Computes in float32 and rounds once at the end: more precise than the bfloat16 reference, so it must pass."""
# hone-test: task = tests/adversarial/tasks/bfloat16.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features).to(torch.bfloat16)

    def forward(self, x):
        y = F.linear(x.float(), self.linear.weight.float(), self.linear.bias.float())
        return F.gelu(y).to(torch.bfloat16)
