"""Computes in full for the first two seconds of its process, then half of the columns."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|nondeterministic|stale-result|slower
# hone-test: timed = yes
import time

import torch
import torch.nn as nn


_born = time.monotonic()


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        if time.monotonic() - _born < 2.0:
            return torch.relu(self.linear(x))
        half = self.linear.out_features // 2
        out = torch.empty(x.shape[0], self.linear.out_features)
        out[:, :half] = torch.relu(torch.nn.functional.linear(x, self.linear.weight[:half], self.linear.bias[:half]))
        out[:, half:] = out[:, :half]
        return out
