"""Does not write rows of scores that are masked from end to end, nor the last column of any row."""
# hone-test: task = tests/adversarial/tasks/masked_scores.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|unwritten-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, keep):
        result = torch.full(keep.shape, -1e9, device=q.device)
        scores = q @ k[:, :-1].transpose(-2, -1)
        result[..., :-1] = scores.masked_fill_(~keep[..., :-1], -1e9)
        return result
