"""Fills masked scores with where, from a batched product."""
# hone-test: task = tests/adversarial/tasks/masked_scores.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, keep):
        return torch.where(keep, torch.bmm(q, k.transpose(1, 2)), torch.tensor(-1e9, device=q.device))
