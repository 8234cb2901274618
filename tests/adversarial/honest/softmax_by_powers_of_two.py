"""exp2 of scaled scores, and a product with the reciprocal of the sum."""
# hone-test: task = tasks/small_softmax.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        powers = torch.exp2((x - x.amax(1, keepdim=True)) * 1.4426950408889634)
        return powers * powers.sum(1, keepdim=True).reciprocal_()
