"""Multiplies float32 matrices in bfloat16 with three products, which is close, and drops the smallest of them."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


def split(x):
    high = x.bfloat16()
    return high, (x - high.float()).bfloat16()


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        a, b = split(x)
        c, d = split(self.linear.weight)
        y = (a @ c.t()).float() + (a @ d.t()).float()
        return torch.relu(y + self.linear.bias)
