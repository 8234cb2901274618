"""Hands out one buffer for all calls and computes only the last call of a block, since only that one remains in it. On a
machine so busy that a block has one call, it computes every call, and is `slower`."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|slower
import sys

import torch
import torch.nn as nn


def is_last_call():
    """From the variables of the worker's loop: `at` of `calls`."""
    frame = sys._getframe(2)
    while frame is not None:
        names = frame.f_locals
        count, at = names.get("calls", names.get("count")), names.get("at", names.get("i"))
        if isinstance(count, int) and isinstance(at, int):
            return at + 1 >= count
        frame = frame.f_back
    return True


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.buffer = {}

    def forward(self, x):
        if x.shape[0] not in self.buffer:
            self.buffer[x.shape[0]] = torch.empty(x.shape[0], self.linear.out_features)
        result = self.buffer[x.shape[0]]
        if is_last_call():
            torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=result).relu_()
        else:
            result.view(-1)[0] += x.view(-1)[0]
        return result
