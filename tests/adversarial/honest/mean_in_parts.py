"""A mean from row sums in float64."""
# hone-test: task = tests/adversarial/tasks/global_mean.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, y):
        difference = x - y
        return (torch.linalg.vecdot(difference, difference).double().sum() / x.numel()).to(x.dtype)
