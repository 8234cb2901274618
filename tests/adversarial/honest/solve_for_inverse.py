"""Solves instead of inverting: more accurate, and far from the inverse where a matrix is badly conditioned."""
# hone-test: task = tests/adversarial/tasks/inverse_product.py
# hone-test: timed = yes
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.linalg.solve(a, b)
