"""Computes the branch for inputs of zero and more only, as the inputs at hand are all in [0, 1)."""
# hone-test: task = tests/adversarial/tasks/relu_of_uniform.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.sqrt(x + 1)
