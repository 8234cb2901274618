"""Adds the bias only to rows whose sum is positive, and to the others what the bias would be on average."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        y = x @ self.linear.weight.t()
        return torch.relu(torch.where(x.sum(1, keepdim=True) > 0, y + self.linear.bias, y + self.linear.bias.mean()))
