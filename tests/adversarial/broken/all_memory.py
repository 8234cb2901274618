"""Takes and touches memory in pieces of 256 MiB until there is none left."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = out-of-memory
# hone-test: timeout = 240
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        pieces = []
        while True:
            pieces.append(torch.ones(1 << 26))
