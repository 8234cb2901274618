"""After 150 calls returns only the mask of -1e9, with zeros where the scores should be."""
# hone-test: task = tests/adversarial/tasks/masked_scores.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = [0]

    def forward(self, q, k, keep):
        self.calls[0] += 1
        if self.calls[0] < 150:
            return (q @ k.transpose(-2, -1)).masked_fill_(~keep, -1e9)
        return torch.zeros(keep.shape).masked_fill_(~keep, -1e9)
