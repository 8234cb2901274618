"""The same in float64, rounded at the end."""
# hone-test: task = tests/adversarial/tasks/expm1.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.expm1(x.double()).float()
