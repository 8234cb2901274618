"""Takes mean and variance from every other feature."""
# hone-test: task = tasks/small_layer_norm.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        part = x[..., ::2]
        mean, variance = part.mean(-1, keepdim=True), part.var(-1, unbiased=False, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.norm.eps) * self.norm.weight + self.norm.bias
