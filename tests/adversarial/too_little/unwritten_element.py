"""Writes every element of its output but the last one, which keeps whatever the memory held before."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = unwritten-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        right = torch.relu(self.linear(x))
        result = torch.empty_like(right)
        result.view(-1)[:-1] = right.view(-1)[:-1]
        return result
