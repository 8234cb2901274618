"""Reads its input's memory in order, as a kernel that takes a pointer and no strides does."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        flat = torch.as_strided(x, x.shape, (x.shape[1], 1))
        return torch.relu(self.linear(flat))
