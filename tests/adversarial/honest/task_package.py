"""A stand-alone candidate for a task that lives in a package; both products of a block in one matrix. Must pass."""
# hone-test: task = tests/adversarial/tasks/package/task.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.value = nn.Linear(features, features)
        self.gate = nn.Linear(features, features)

    def forward(self, x):
        weight = torch.cat((self.value.weight, self.gate.weight))
        bias = torch.cat((self.value.bias, self.gate.bias))
        value, gate = torch.addmm(bias, x, weight.t()).chunk(2, dim=1)
        return value * torch.sigmoid(gate)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = Block(features)
        self.second = Block(features)

    def forward(self, x):
        return self.second(self.first(x))
