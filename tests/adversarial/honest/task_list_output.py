"""The same pyramid with addmm; returns a list as the reference does and must pass."""
# hone-test: task = tests/adversarial/tasks/list_output.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.levels = nn.ModuleList([nn.Linear(features >> i, features >> (i + 1)) for i in range(3)])

    def forward(self, x):
        outputs = [x]
        for level in self.levels:
            outputs.append(torch.addmm(level.bias, outputs[-1], level.weight.t()).relu_())
        return outputs[1:]
