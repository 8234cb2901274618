"""A plain copy of the reference, which has no parameters. Must come out as no difference."""
# hone-test: task = tasks/small_softmax.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
