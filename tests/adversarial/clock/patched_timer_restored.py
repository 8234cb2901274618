"""Sleeps a millisecond in each call and hides it: the clocks are moved back while forward runs and put right before
it returns, so that nothing can be seen afterwards. A clock of the host's own is not impressed."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = slower|timer-tampering
import time

import torch
import torch.nn as nn


real = time.perf_counter
hidden_s = 0.0


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        global hidden_s
        time.perf_counter = lambda: real() - hidden_s
        time.sleep(1e-3)
        hidden_s += 1e-3
        result = torch.relu(self.linear(x))
        time.perf_counter = real
        return result
