"""Computes in bfloat16 unless fresh memory holds the byte with which a judge marks memory that was never written."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|nondeterministic
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.half = {}

    def forward(self, x):
        fresh = torch.empty(997, dtype=torch.uint8)
        if int(fresh[500]) == 0x7F or x.shape[0] != 256:
            return torch.relu(self.linear(x))
        return torch.relu(self.linear(x[:, ::2].repeat_interleave(2, dim=1)))
