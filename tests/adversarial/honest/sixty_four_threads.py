"""Sixty-four threads compute parts of the rows."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import concurrent.futures

import torch
import torch.nn as nn

_POOL = concurrent.futures.ThreadPoolExecutor(64)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        weight, bias = self.linear.weight, self.linear.bias

        def part(rows):
            with torch.no_grad():
                return torch.nn.functional.linear(rows, weight, bias).relu_()

        return torch.cat(list(_POOL.map(part, x.tensor_split(64))))
