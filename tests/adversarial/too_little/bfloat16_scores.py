"""Scores in bfloat16: wrong in every element that is not masked, hidden by those of -1e9."""
# hone-test: task = tests/adversarial/tasks/masked_scores.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, keep):
        scores = (q.bfloat16() @ k.bfloat16().transpose(-2, -1)).float()
        return scores.masked_fill_(~keep, -1e9)
