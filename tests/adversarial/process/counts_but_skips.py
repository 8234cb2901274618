"""Replaces the model for timed blocks by one that computes every fourth call and repeats that answer in between."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import gc

import torch
import torch.nn as nn


def take_over():
    worker = next(one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs"))
    block = worker.verbs["block"]

    def skipping(message, descriptors):
        model, state = worker.models[message["slot"]], [0, None]

        def call(x):
            if state[0] % 4 == 0:
                state[1] = model(x)
            state[0] += 1
            return state[1].clone()

        worker.models[message["slot"]] = call
        try:
            return block(message, descriptors)
        finally:
            worker.models[message["slot"]] = model

    worker.verbs["block"] = skipping


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
