"""Computes halves of the batch in a pool of its own threads."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import concurrent.futures

import torch
import torch.nn as nn


_pool = concurrent.futures.ThreadPoolExecutor(2)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        half = (x.shape[0] + 1) // 2
        parts = _pool.map(lambda rows: torch.nn.functional.linear(rows, self.linear.weight, self.linear.bias).relu_(), (x[:half], x[half:]))
        return torch.cat(list(parts))
