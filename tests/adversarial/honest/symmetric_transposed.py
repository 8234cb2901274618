"""Uses the symmetry that get_inputs promises: a transposed second factor gives the same product."""
# hone-test: task = tests/adversarial/tasks/symmetric.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.mm(a, b.t())
