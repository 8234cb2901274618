"""Right, and replaces Python's clocks by ones that run at a tenth of the speed."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = timer-tampering
import time

import torch
import torch.nn as nn


def slowed(clock):
    start = clock()
    return lambda: start + type(start)((clock() - start) / 10)


for name in ("perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time", "time_ns", "process_time"):
    setattr(time, name, slowed(getattr(time, name)))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
