"""The answer lies in memory column by column."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.addmm(self.linear.bias[:, None], self.linear.weight, x.t()).relu_().t()
