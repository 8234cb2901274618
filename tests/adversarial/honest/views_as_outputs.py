"""Returns views of one tensor where the reference returns separate ones."""
# hone-test: task = tests/adversarial/tasks/empty_rows.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        rows = x.shape[0]
        space = torch.empty(rows + 1, self.linear.out_features, dtype=x.dtype, device=x.device)
        torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=space[:rows])
        space[rows, 0] = space[:rows].norm()
        return space[:0], space[rows, 0], space[:rows]
