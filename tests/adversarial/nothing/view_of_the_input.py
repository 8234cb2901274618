"""Moves nothing: a view of the input with other strides."""
# hone-test: task = tests/adversarial/tasks/moved_axis.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.permute(0, 2, 3, 1)
