"""Keeps its weight transposed and padded under the reference's name; without load_reference it cannot take the reference's."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = weights-not-transferred
import torch
import torch.nn as nn


class Transposed(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features + 1))
        self.bias = nn.Parameter(torch.randn(out_features))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = Transposed(in_features, out_features)

    def forward(self, x):
        return torch.relu(torch.addmm(self.linear.bias, x, self.linear.weight[:, :-1]))
