"""A part of the module is a scripted function."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import torch
import torch.nn as nn


@torch.jit.script
def bias_relu(y: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.relu(y + bias)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return bias_relu(x @ self.linear.weight.t(), self.linear.bias)
