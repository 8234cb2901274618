"""Calls its parameters by other names and offers no load_reference, so the reference's weights never reach it."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = weights-not-transferred
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(out_features, in_features) * 0.02)
        self.offset = nn.Parameter(torch.zeros(out_features))

    def forward(self, x):
        return torch.relu(torch.addmm(self.offset, x, self.matrix.t()))
