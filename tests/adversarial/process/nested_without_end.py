"""Answers a message with JSON that is a million lists deep."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped|crashed|timeout
# hone-test: timed = no
import os
import struct

import torch
import torch.nn as nn


def flood():
    text = b"[" * 1_000_000 + b"]" * 1_000_000
    os.write(3, struct.pack("<4sIQ", b"HNE1", 0, len(text)))
    for at in range(0, len(text), 65536):
        os.write(3, text[at: at + 65536])


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        flood()
        return torch.relu(self.linear(x))
