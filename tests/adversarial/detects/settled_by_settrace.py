"""A trace function changes the worker's local variables so that no call is made in a timed block."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = stale-result|wrong-output|unwritten-output|escaped|crashed|slower
# hone-test: timed = yes
import sys

import torch
import torch.nn as nn


def tracer(frame, event, argument):
    if frame.f_code.co_name == "block" and event == "call":
        frame.f_locals["message"]["calls"] = min(1, frame.f_locals["message"]["calls"])
    return tracer


sys.settrace(tracer)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
