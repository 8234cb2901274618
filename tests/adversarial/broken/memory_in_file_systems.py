"""Takes memory in /tmp and /dev/shm, which are private and in memory. It stops at 2 GiB."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = out-of-memory
# hone-test: timeout = 60
# hone-test: flags = --compile never --candidate-memory 1
import os
import time

import torch
import torch.nn as nn

_PIECE = bytes(1 << 24)


def take():
    paths = ["/tmp/piece", "/dev/shm/piece"]
    for path in paths:
        with open(path, "wb") as file:
            for _ in range(64):
                file.write(_PIECE)
    time.sleep(2)
    for path in paths:
        os.remove(path)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        take()
        return torch.relu(self.linear(x))
