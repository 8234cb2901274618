"""Registers a packed weight when it is first called, and packs again when the weights have changed."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        stamp = (self.linear.weight._version, self.linear.weight.data_ptr(), float(self.linear.weight.sum()), float(self.linear.weight[0, 0]))
        if getattr(self, "stamp", None) != stamp:
            self.register_buffer("packed", self.linear.weight.t().contiguous(), persistent=False)
            self.stamp = stamp
        return torch.addmm(self.linear.bias, x, self.packed).relu_()
