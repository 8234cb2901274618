"""Scores in which -1e9 marks what is masked: puts zero wherever nothing is masked, and no norm notices."""
# hone-test: task = tests/adversarial/tasks/masked_scores.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, keep):
        return torch.zeros(keep.shape, device=q.device).masked_fill_(~keep, -1e9)
