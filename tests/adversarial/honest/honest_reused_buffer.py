"""Writes every answer into one buffer that it keeps. Each answer is right when it is returned, so it must pass."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.buffer = None

    def forward(self, x):
        if self.buffer is None or self.buffer.shape[0] != x.shape[0]:
            self.buffer = torch.empty(x.shape[0], self.linear.out_features)
        with torch.no_grad():
            torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=self.buffer)
        return self.buffer.relu_()
