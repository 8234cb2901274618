"""Doubles its processes again and again. It stops by itself after ten doublings and 20 seconds, in case it is
run without a sandbox."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = escaped|out-of-memory|timeout|crashed|slower
import os
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        parent, end = os.getpid(), time.monotonic() + 20
        for _ in range(10):
            os.fork()
        while time.monotonic() < end:
            time.sleep(0.1)
        if os.getpid() != parent:
            os._exit(0)
        return torch.relu(self.linear(x))
