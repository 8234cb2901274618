"""Leaves each call's work to a thread that runs on after the worker has answered, and waits for it only when read."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: reason = crashed
import queue
import threading

import torch
import torch.nn as nn

WORK = queue.Queue()


def serve():
    with torch.no_grad():
        while True:
            model, x, result = WORK.get()
            y = x
            for layer in model.layers:
                y = torch.relu(torch.nn.functional.linear(y, layer.weight, layer.bias))
            result.copy_(y)
            WORK.task_done()


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 1:
            threading.Thread(target=serve, daemon=True).start()
        result = torch.empty(x.shape[0], self.layers[-1].out_features)
        WORK.put((self, x, result))
        if self.calls[0] < 150:
            WORK.join()
        return result
