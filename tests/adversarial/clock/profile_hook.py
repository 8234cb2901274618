"""A profile hook sees the worker receive inputs and computes all answers before the clock starts."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
import sys

import torch
import torch.nn as nn

READY = {}
MODELS = []


def hook(frame, event, _):
    if event != "return" or not frame.f_code.co_filename.endswith("hone_worker.py"):
        return
    batch = getattr(frame.f_locals.get("self"), "batch", None)
    if frame.f_code.co_name != "put_batch" or not batch:
        return
    sys.setprofile(None)
    READY.clear()
    for inputs in batch:
        READY[inputs[0].data_ptr()] = MODELS[0].compute(inputs[0])
    sys.setprofile(hook)


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        MODELS.append(self)
        sys.setprofile(hook)

    def compute(self, x):
        for layer in self.layers:
            x = torch.relu(torch.nn.functional.linear(x, layer.weight, layer.bias))
        return x

    def forward(self, x):
        known = READY.pop(x.data_ptr(), None) if self is MODELS[0] else None
        return self.compute(x) if known is None else known
