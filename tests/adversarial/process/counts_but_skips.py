"""Replaces the worker's loop over calls by one that calls the model for every fourth call and copies in between."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import gc

import torch
import torch.nn as nn


def take_over():
    worker = next(one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs"))

    def skipping(message, descriptors):
        count = message["count"]
        sets = worker.batch[message.get("first", 0):] if message.get("batch") else [worker.inputs[n] for n in message["inputs"]]
        outputs = worker.outputs = [None] * count
        with torch.no_grad():
            for i in range(count):
                outputs[i] = worker.models["default"](*sets[i % len(sets)]) if i % 4 == 0 else outputs[i - 1].clone()
        return {"compute_s": 0.0}

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
