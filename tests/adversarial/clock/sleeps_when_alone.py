"""Sleeps in calls that come alone, so that one call looks slow and many in a row look cheap beside it."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.last = [0.0]

    def forward(self, x):
        if time.perf_counter() - self.last[0] > 1e-3:
            time.sleep(4e-3)
        result = torch.relu(self.linear(x))
        self.last[0] = time.perf_counter()
        return result
