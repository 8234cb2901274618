"""Leaves out the division by a temperature that is 1.0 in the inputs at hand."""
# hone-test: task = tests/adversarial/tasks/temperature_input.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, temperature):
        return torch.softmax(x, dim=-1)
