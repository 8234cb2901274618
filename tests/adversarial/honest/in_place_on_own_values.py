"""Works in place on its own temporaries only."""
# hone-test: task = tasks/small_layer_norm.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = x - x.mean(-1, keepdim=True)
        scale = y.square().mean(-1, keepdim=True).add_(self.norm.eps).rsqrt_()
        return y.mul_(scale).mul_(self.norm.weight).add_(self.norm.bias)
