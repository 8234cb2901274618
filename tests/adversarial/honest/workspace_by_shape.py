"""Keeps one workspace per shape of the input and returns a copy of it."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.spaces = {}

    def forward(self, x):
        key = tuple(x.shape)
        if key not in self.spaces:
            self.spaces[key] = torch.empty(*x.shape[:-1], self.linear.out_features)
        out = self.spaces[key]
        torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=out)
        return out.relu_().clone()
