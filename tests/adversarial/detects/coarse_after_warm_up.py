"""Exact for the first twenty calls, then on half of the inner dimension."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|nondeterministic
import torch
import torch.nn as nn

import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls <= 20:
            return torch.relu(self.linear(x))
        half = x.shape[1] // 2
        return torch.relu(F.linear(x[:, :half], self.linear.weight[:, :half], self.linear.bias))
