"""Adds in place as the task does, with a fused product."""
# hone-test: task = tests/adversarial/tasks/in_place.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.addmm(self.linear.bias, x, self.linear.weight.t()).relu_()
        return x.add_(y)
