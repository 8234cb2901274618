"""Multiplies in float16 on the tensor cores in a float32 task and converts back."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn

import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        y = F.linear(x.half(), self.linear.weight.half(), self.linear.bias.half())
        return torch.relu(y).float()
