"""Layer norm with the variance as E[x^2] - E[x]^2 in float32."""
# hone-test: task = tasks/small_layer_norm.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = (x * x).mean(dim=-1, keepdim=True) - mean * mean
        return (x - mean) * torch.rsqrt(variance + self.norm.eps) * self.norm.weight + self.norm.bias
