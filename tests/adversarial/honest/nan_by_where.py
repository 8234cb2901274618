"""The logarithm by base two, and NaN written where it is not defined."""
# hone-test: task = tests/adversarial/tasks/log_of_signed.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.where(x < 0, float("nan"), torch.log2(x.abs().double()).mul_(0.6931471805599453).float())
