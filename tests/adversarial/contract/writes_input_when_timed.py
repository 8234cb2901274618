"""Leaves its result in the caller's input, but only after forty calls, when inputs may no longer be checked."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: timed = yes
# hone-test: expect = rejected
# hone-test: reason = input-modified|stale-result|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        result = torch.relu(self.linear(x))
        if self.calls[0] > 40:
            x.copy_(result)
        return result
