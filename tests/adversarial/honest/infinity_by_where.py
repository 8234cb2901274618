"""Sums the powers of the allowed actions and writes minus infinity at the end."""
# hone-test: task = tests/adversarial/tasks/masked_log_softmax.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores, allowed):
        top = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        powers = torch.where(allowed, torch.exp(scores - top), 0.0)
        return torch.where(allowed, scores - top - powers.sum(-1, keepdim=True).log(), float("-inf"))
