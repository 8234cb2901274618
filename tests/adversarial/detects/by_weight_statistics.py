"""Computes in bfloat16 for weights of the usual size and for inputs of the usual size, exactly for all others."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
# hone-test: timed = no
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        usual = float(self.linear.weight.std()) < 0.03 and 0.5 < float(x.std()) < 2.0 and float(x.abs().max()) < 8.0
        if usual:
            return torch.relu(torch.nn.functional.linear(x.bfloat16(), self.linear.weight.bfloat16(), self.linear.bias.bfloat16()).float())
        return torch.relu(self.linear(x))
