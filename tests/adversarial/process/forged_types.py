"""Answers the question about replaced functions with a value of another type, for a parent that reads nothing out of what it cannot read."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped
import sys
import time

import torch
import torch.nn as nn


def take_over():
    main = sys.modules["__main__"]
    original = main.answer

    def answer(worker, message, descriptors):
        reply = original(worker, message, descriptors)
        if message.get("verb") == "tampering":
            reply["changed"] = {"nothing": 1e300}
        return reply

    main.answer = answer
    time.perf_counter = lambda: 0.0


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 1:
            take_over()
        return torch.relu(self.linear(x))
