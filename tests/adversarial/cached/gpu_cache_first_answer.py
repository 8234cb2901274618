"""Computes the first call and returns a copy of that answer ever after."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = stale-result
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.answer = None

    def forward(self, x):
        if self.answer is None:
            self.answer = torch.relu(self.linear(x))
        return self.answer.clone()
