"""Divides by the norm, with the guard written as a maximum."""
# hone-test: task = tests/adversarial/tasks/unit_rows.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x / torch.maximum(torch.linalg.vector_norm(x, dim=-1, keepdim=True), torch.tensor(1e-12))
