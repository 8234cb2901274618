"""Weights and inputs rounded to float16: outside of Hone's own limit and inside the tolerances that were asked for."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: timed = yes
# hone-test: flags = --compile never --atol 0.01 --rtol 0.01
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(nn.functional.linear(x, self.linear.weight.half().float(), self.linear.bias))
