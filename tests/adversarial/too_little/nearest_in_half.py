"""Finds the nearest code in bfloat16: a neighbour where it is close, and the returned index says so."""
# hone-test: task = tests/adversarial/tasks/nearest_code.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, codes, width):
        super().__init__()
        self.codes = nn.Parameter(torch.zeros(codes, width))

    def forward(self, x):
        scores = (x.bfloat16() @ self.codes.bfloat16().t()).float() - 0.5 * (self.codes * self.codes).sum(dim=1)
        index = scores.argmax(dim=1)
        return index, self.codes[index]
