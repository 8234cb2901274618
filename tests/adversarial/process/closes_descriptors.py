"""Closes every descriptor but the standard ones, and with them whatever it was being talked to through."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = crashed|escaped|timeout
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        os.closerange(3, 4096)
        return torch.relu(self.linear(x))
