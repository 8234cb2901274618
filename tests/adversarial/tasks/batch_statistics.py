"""Normalises with the statistics of the batch and moves running ones that no answer depends on."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bn = nn.BatchNorm1d(n)
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return F.batch_norm(self.fc(x), self.bn.running_mean, self.bn.running_var, self.bn.weight, self.bn.bias, True, 0.1, 1e-5)


def get_inputs():
    return [torch.randn(64, 48)]


def get_init_inputs():
    return [48]
