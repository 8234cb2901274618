"""Draws the weights itself from the usual seed and ignores the given ones, though the names match."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = weights-not-transferred|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        torch.manual_seed(42)
        baked = nn.Linear(in_features, out_features)
        self.baked = [baked.weight.detach().clone(), baked.bias.detach().clone()]

    def forward(self, x):
        return torch.relu(torch.addmm(self.baked[1], x, self.baked[0].t()))
