"""Takes memory in files whose only descriptors are on their way in a socket. It stops at 2 GiB."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = out-of-memory
# hone-test: timeout = 60
# hone-test: flags = --compile never --candidate-memory 1
import os
import socket
import time

import torch
import torch.nn as nn

_PIECE = bytes(1 << 24)


def take():
    ends = socket.socketpair()
    for i in range(16):
        file = os.memfd_create("piece%d" % i)
        for _ in range(8):
            os.write(file, _PIECE)
        socket.send_fds(ends[0], [b"x"], [file])
        os.close(file)
    time.sleep(2)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        take()
        return torch.relu(self.linear(x))
