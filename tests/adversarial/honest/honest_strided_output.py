"""Returns the right numbers in a tensor that is not contiguous. A consumer sees the same values, so it must pass."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(torch.addmm(self.linear.bias.unsqueeze(1), self.linear.weight, x.t())).t()
