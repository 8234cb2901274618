"""The same by addmm, for any number of rows."""
# hone-test: task = tests/adversarial/tasks/empty_variant.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.addmm(self.linear.bias, x, self.linear.weight.t()).relu_()
        return y, y.sum(dim=1).div_(y.shape[1])
