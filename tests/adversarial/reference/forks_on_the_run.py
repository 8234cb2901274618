"""A chain of processes, each of which spins for two milliseconds, starts the next one and ends, so that no process can be
stopped."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: reason = timeout
import os
import time

import torch
import torch.nn as nn


def run_away(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pause = time.monotonic() + 2e-3
        while time.monotonic() < pause:
            pass
        if os.fork() > 0:
            os._exit(0)
    os._exit(0)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 25:
            for _ in range(2):
                child = os.fork()
                if child == 0:
                    if os.fork() == 0:
                        os.setsid()
                        run_away(25)
                    os._exit(0)
                os.waitpid(child, 0)
        return torch.relu(self.linear(x))
