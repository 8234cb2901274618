"""Children spin only while the worker itself does not move, which is when the reference runs."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import mmap
import os
import signal
import time

import torch
import torch.nn as nn

PULSE = mmap.mmap(-1, 8)


def spin_when_still():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    end, last, moved = time.monotonic() + 40, PULSE[:8], time.monotonic()
    while time.monotonic() < end:
        if PULSE[:8] != last:
            last, moved = PULSE[:8], time.monotonic()
        if time.monotonic() - moved < 2e-3:
            time.sleep(1e-3)
    os._exit(0)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 25:
            for _ in range(os.cpu_count()):
                if os.fork() == 0:
                    spin_when_still()
        PULSE[:8] = self.calls[0].to_bytes(8, "little")
        return torch.relu(self.linear(x))
