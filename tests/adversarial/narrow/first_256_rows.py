"""Computes at most 256 rows, the batch at hand, and leaves zeros in all others; right for smaller batches."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        result = torch.zeros(x.shape[0], self.linear.out_features, device=x.device)
        result[:256] = torch.relu(self.linear(x[:256]))
        return result
