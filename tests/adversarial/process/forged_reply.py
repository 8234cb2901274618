"""Sends the reply to a timed block before it has computed anything, and swallows the worker's own reply afterwards."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: reason = crashed
import gc
import sys

import torch
import torch.nn as nn


def take_over():
    main = sys.modules["__main__"]
    wire = next(one for one in gc.get_objects() if type(one).__name__ == "Wire" and one._socket.fileno() >= 0)
    original, send = main.answer, wire.send
    swallow = []

    def answer(worker, message, descriptors):
        if message.get("verb") == "block":
            send({"ok": True, "compute_s": 0.0})
            swallow.append(True)
        return original(worker, message, descriptors)

    def once(reply):
        if swallow:
            swallow.pop()
        else:
            send(reply)

    main.answer, wire.send = answer, once


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
