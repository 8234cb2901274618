"""A timed block computes nothing; the answers are computed straight into the memory that they should be copied to, and no copy is made."""
# hone-test: task = tests/adversarial/tasks/large_output.py
# hone-test: timeout = 20
import gc

import torch
import torch.nn as nn


def take_over():
    worker = next(one for one in gc.get_objects() if type(one).__name__ == "Worker" and hasattr(one, "verbs"))
    if getattr(worker, "taken_over", False):  # a second instance
        return
    worker.taken_over = True
    block, collect = worker.verbs["block"], worker.verbs.get("collect")
    clock, state = getattr(worker, "clock", None), {}

    def open_only(message, descriptors):
        reply = block({**message, "calls": 0}, descriptors)
        state["calls"] = message["calls"]
        return reply

    def compute(message, descriptors):
        clock.outputs = []
        reply = collect(message, descriptors)
        with torch.no_grad():
            for at in range(state["calls"]):
                target = clock.place.tensor(message["leaves"][0], at * message["stride"])
                torch.clamp(clock.sets[at][0], min=0, out=target)
        return reply

    if collect is not None and clock is not None:
        worker.verbs["block"], worker.verbs["collect"] = open_only, compute


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        take_over()

    def forward(self, x):
        return torch.relu(x)
