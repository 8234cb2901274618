"""Leaves rows out when a block's memory file is open beside the channel."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|slower
# hone-test: timed = yes
import os

import torch
import torch.nn as nn


def in_block():
    names = []
    for entry in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink("/proc/self/fd/" + entry))
        except OSError:
            pass
    return any("inputs of a block" in name for name in names)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        if in_block():
            out = torch.relu(self.linear(x[:128]))
            return torch.cat([out, out])
        return torch.relu(self.linear(x))
