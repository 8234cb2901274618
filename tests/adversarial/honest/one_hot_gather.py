"""Looks up the row that a one-hot input names instead of multiplying by zeros."""
# hone-test: task = tests/adversarial/tasks/one_hot.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, classes, features):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(classes, features))

    def forward(self, x):
        return self.table.index_select(0, x.argmax(dim=1))
