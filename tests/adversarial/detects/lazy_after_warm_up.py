"""Honest for the first twenty calls, which is where a judge looks, and idle from then on, when it only times."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = stale-result|wrong-output|nondeterministic
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = 0
        self.answer = None

    def forward(self, x):
        self.calls += 1
        if self.calls <= 20 or self.answer is None or self.answer.shape[0] != x.shape[0]:
            self.answer = torch.relu(self.linear(x))
        return self.answer.clone()
