"""Sums rows of a hundred terms first: another rounding of a sum that may nearly cancel."""
# hone-test: task = tests/adversarial/tasks/inner_product.py
# hone-test: timed = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, y):
        return (x * y).view(-1, 100).sum(1).sum()
