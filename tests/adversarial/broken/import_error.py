"""Imports a module that does not exist."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = import-failed
import a_module_that_nobody_has
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return a_module_that_nobody_has.linear_relu(x, self.linear.weight, self.linear.bias)
