"""Pretends to be slow at first, so that blocks have one call each, and then takes its time over blocks without calls."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
import gc
import time

import torch
import torch.nn as nn


def take_over():
    seen, call_s = [0], [1e-3]
    for holder in [one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs")]:
        block = holder.verbs["block"]

        def uneven(message, descriptors, block=block):
            count = message.get("calls", message.get("count", 0))
            seen[0] += 1
            started = time.perf_counter()
            reply = block(message, descriptors)
            if count:
                call_s[0] = min(call_s[0], (time.perf_counter() - started) / count)
            if seen[0] <= 8:
                time.sleep(0.07 * count)
            elif count == 0:
                time.sleep(0.6 * call_s[0])
            return reply

        holder.verbs["block"] = uneven


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.patched = []

    def forward(self, x):
        if not self.patched:
            self.patched.append(True)
            take_over()
        for layer in self.layers:
            x = torch.relu(torch.nn.functional.linear(x, layer.weight, layer.bias))
        return x
