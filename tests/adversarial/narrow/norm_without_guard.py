"""Divides by the norm without the guard for rows of zeros."""
# hone-test: target = cpu,cuda
# hone-test: task = tests/adversarial/tasks/unit_rows.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|non-finite|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt((x * x).sum(-1, keepdim=True))
