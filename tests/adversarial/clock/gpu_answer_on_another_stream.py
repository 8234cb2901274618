"""Returns a tensor that a stream of its own still writes; an event on that stream is waited for only in calls that come alone."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|unsynchronised|unwritten-output|stale-result|nondeterministic|slower   # each call took longer than half a millisecond, so all were waited for
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.own = []

    def forward(self, x):
        if not self.own:
            self.own = [torch.cuda.Stream(), 0.0]
        alone = time.perf_counter() - self.own[1] > 5e-4
        result = torch.empty(x.shape[0], self.layers[-1].out_features, device=x.device)
        self.own[0].wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.own[0]):
            y = x
            for layer in self.layers:
                y = torch.relu(layer(y))
            result.copy_(y)
        result.record_stream(self.own[0])
        if alone:
            torch.cuda.current_stream().wait_stream(self.own[0])
        self.own[1] = time.perf_counter()
        return result
