"""Looks at the name of the function that calls it, and skips half of the rows if that is the one that times."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import sys

import torch
import torch.nn as nn


def names_above():
    frame, names = sys._getframe(2), set()
    while frame is not None:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return names


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        if not any("block" in name or "time" in name for name in names_above()):
            return torch.relu(self.linear(x))
        half = x.shape[0] // 2
        result = torch.relu(self.linear(x[:half]))
        return torch.cat((result, result))
