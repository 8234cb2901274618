"""Transposes the weights once per instance, at the first call. Must pass: a module's weights do not change under it."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.linear.weight.detach().t().contiguous()
        return torch.addmm(self.linear.bias, x, self.packed).relu_()
