"""The same in float64: where two entries tie within rounding it may name the other one."""
# hone-test: task = tests/adversarial/tasks/argmax_of_product.py
# hone-test: timed = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inner, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inner, columns))

    def forward(self, x):
        return (x.double() @ self.weight.double()).argmax(-1)
