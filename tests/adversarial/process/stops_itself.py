"""Stops its own process with SIGSTOP, so that it neither works nor ends."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = timeout
# hone-test: timeout = 2
# hone-test: build_timeout = 10
import os
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        os.kill(os.getpid(), signal.SIGSTOP)
        return torch.relu(self.linear(x))
