"""The nearest code through a product of matrices: near-ties may fall the other way by rounding."""
# hone-test: task = tests/adversarial/tasks/nearest_code.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, codes, width):
        super().__init__()
        self.codes = nn.Parameter(torch.zeros(codes, width))

    def forward(self, x):
        half = 0.5 * (self.codes * self.codes).sum(dim=1)
        index = (half - x @ self.codes.t()).argmin(dim=1)
        return index, self.codes.index_select(0, index)
