"""Takes memory in files that no process has mapped, so that it is in no resident set. It stops at 2 GiB."""
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
    """Keeps what it took until the first call ends."""
    files = [os.memfd_create("piece%d" % i) for i in range(16)]
    for i in range(128):
        os.write(files[i % 16], _PIECE)
    time.sleep(2)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        take()
        return torch.relu(self.linear(x))
