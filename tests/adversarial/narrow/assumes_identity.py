"""Leaves out the product with a matrix that is the identity in every draw."""
# hone-test: task = tests/adversarial/tasks/identity_input.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, a):
        return x.clone()
