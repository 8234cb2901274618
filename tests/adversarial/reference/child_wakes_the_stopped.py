"""A child that sends SIGCONT to its stopped brothers, who spin; it is stopped last if processes are stopped one by one."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import os
import signal
import time

import torch
import torch.nn as nn


def spin(end):
    while time.monotonic() < end:
        pass
    os._exit(0)


def wake(others, end):
    while time.monotonic() < end:
        for one in others:
            try:
                os.kill(one, signal.SIGCONT)
            except OSError:
                pass
    os._exit(0)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 25:
            end, started = time.monotonic() + 40, []
            for _ in range(2):
                child = os.fork()
                if child == 0:
                    spin(end)
                started.append(child)
            for _ in range(2):
                child = os.fork()
                if child == 0:
                    wake(started, end)
                started.append(child)
        return torch.relu(self.linear(x))
