"""Multiplies in float64: slow, and as accurate as can be."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        y = x.double() @ self.linear.weight.double().t() + self.linear.bias.double()
        return torch.relu(y).to(x.dtype)
