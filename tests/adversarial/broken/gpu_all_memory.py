"""Takes all of the device's memory and asks for more."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = out-of-memory
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        pieces = []
        while True:
            pieces.append(torch.ones(1 << 28, device=x.device))
