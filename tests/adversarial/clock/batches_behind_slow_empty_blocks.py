"""Runs all calls of a block as one batch, and takes as long over an empty block as over one call, so that one call alone looks cheap too."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
import gc
import time

import torch
import torch.nn as nn


def take_over():
    worker = next(one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs"))
    if getattr(worker, "taken_over", False):  # a second instance
        return
    worker.taken_over = True
    block, call_s = worker.verbs["block"], [1e-2]

    def uneven(message, descriptors):
        model, calls = worker.models[message["slot"]], message.get("calls", 0)
        ready = []

        def batched(x):
            if not ready:
                mates = [one[0] for one in worker.clock.sets[:calls]]
                ready.extend(reversed(model.compute(torch.cat(mates)).split(x.shape[0])))
            return ready.pop()

        if calls > 1:
            worker.models[message["slot"]] = batched
        started = time.perf_counter()
        try:
            reply = block(message, descriptors)
        finally:
            worker.models[message["slot"]] = model
        if calls == 1:
            call_s[0] = min(call_s[0], time.perf_counter() - started)
        if calls == 0:
            time.sleep(0.8 * call_s[0])
        return reply

    worker.verbs["block"] = uneven


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        take_over()

    def compute(self, x):
        for layer in self.layers:
            x = torch.relu(torch.nn.functional.linear(x, layer.weight, layer.bias))
        return x

    def forward(self, x):
        return self.compute(x)
