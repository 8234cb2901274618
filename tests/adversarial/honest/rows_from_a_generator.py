"""Rows are computed by a generator, block by block."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def blocks(self, x):
        for rows in x.split(64):
            yield torch.relu(self.linear(rows))

    def forward(self, x):
        return torch.cat(list(self.blocks(x)))
