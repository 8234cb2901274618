"""A softmax that does not subtract the maximum after raising the scores: it overflows to inf / inf."""
# hone-test: task = tasks/small_softmax.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = non-finite
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        powers = torch.exp(x * 100)
        return powers / powers.sum(dim=1, keepdim=True)
