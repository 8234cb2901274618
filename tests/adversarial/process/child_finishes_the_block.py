"""Answers a timed block at once; a child forked from the worker goes on and writes the answers into the shared memory."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|unwritten-output|unsynchronised|escaped|non-finite
import gc
import os

import torch
import torch.nn as nn


def take_over():
    worker = next(one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs"))
    block = worker.verbs["block"]

    def quick(message, descriptors):
        if message.get("calls", 0) < 2:
            return block(message, descriptors)
        if os.fork() == 0:
            torch.set_num_threads(1)
            block(message, descriptors)
            os._exit(0)
        return {"compute_s": 0.0}

    worker.verbs["block"] = quick


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 1:
            take_over()
        for layer in self.layers:
            x = torch.relu(torch.nn.functional.linear(x, layer.weight, layer.bias))
        return x
