"""Replaces the worker's verbs: a timed block answers at once, and a thread does the work afterwards."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|unwritten-output|unsynchronised|escaped|non-finite
import gc
import os
import threading

import torch
import torch.nn as nn


def take_over():
    worker = next(one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs"))
    block = worker.verbs["block"]

    def late(message, descriptors):
        if message.get("calls", 0) < 2:
            return block(message, descriptors)
        kept = [os.dup(one) for one in descriptors]
        threading.Thread(target=block, args=(message, kept), daemon=True).start()
        return {"compute_s": 0.0}

    worker.verbs["block"] = late


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
