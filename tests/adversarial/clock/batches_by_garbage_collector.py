"""Finds the inputs of later calls among all live tensors of the same shape and computes them together with the first."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: target = cpu,cuda
import gc

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.ready = {}

    def forward(self, x):
        done = self.ready.pop(id(x), None)
        if done is not None and done[0] is x and done[2] == x._version:
            return done[1]
        own = {id(one) for pair in self.ready.values() for one in pair[:2]}
        mates = [x] + [one for one in gc.get_objects() if type(one) is torch.Tensor and one.shape == x.shape
                       and one is not x and not one.requires_grad and id(one) not in own]
        y = torch.cat(mates)
        for layer in self.layers:
            y = torch.relu(torch.nn.functional.linear(y, layer.weight, layer.bias))
        self.ready = {id(one): (one, part, one._version) for one, part in zip(mates, y.split(x.shape[0]))}
        return self.ready.pop(id(x))[1]
