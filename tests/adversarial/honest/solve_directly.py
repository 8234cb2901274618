"""Two triangular solves with the Cholesky factor."""
# hone-test: task = tests/adversarial/tasks/cholesky.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        factor = torch.linalg.cholesky(a)
        y = torch.linalg.solve_triangular(factor, b, upper=False)
        return torch.linalg.solve_triangular(factor.transpose(1, 2), y, upper=True)
