"""A thread watches the memory of the inputs and computes as soon as it changes, which may be before the clock starts."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
import threading
import time

import torch
import torch.nn as nn



def marks(x):
    return tuple(x.view(-1)[::509].tolist())


def watch(model, seen, ready):
    with torch.no_grad():
        while True:
            time.sleep(1e-4)
            for address, x in list(seen.items()):
                now = marks(x)
                if ready.get(address, (None,))[0] != now:
                    answer = model.compute(x)
                    if marks(x) == now:
                        ready[address] = (now, answer)


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.started, self.seen, self.ready = [], {}, {}

    def compute(self, x):
        for layer in self.layers:
            x = torch.relu(torch.nn.functional.linear(x, layer.weight, layer.bias))
        return x

    def forward(self, x):
        if not self.started:
            self.started.append(threading.Thread(target=watch, args=(self, self.seen, self.ready), daemon=True))
            self.started[0].start()
        if len(self.seen) < 8:
            self.seen[x.data_ptr()] = x
        known = self.ready.get(x.data_ptr())
        if known is not None and known[0] == marks(x):
            return known[1].clone()
        return self.compute(x)
