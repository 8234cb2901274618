"""Puts as many descriptors as it can into sockets that nobody reads. The kernel counts them for the whole user, and refuses to pass on Hone's when there
are too many. It computes what it should: its aim is to fail the next candidate of the session."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = correct
import resource
import socket

import torch
import torch.nn as nn

_kept = []


def fill():
    if _kept:
        return
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        for _ in range(hard // 2):
            ends = socket.socketpair()
            _kept.append(ends)
            for _ in range(20):
                ends[0].setblocking(False)
                socket.send_fds(ends[0], [b"x"], [0] * 200)
    except OSError:
        pass


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        fill()
        return torch.relu(self.linear(x))
