"""After 150 calls computes all rows but the last four, which keep what the buffer held in the call before."""
# hone-test: task = tests/adversarial/tasks/cumsum.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|unwritten-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = [0]
        self.kept = []

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] < 150 or not self.kept or x.shape != self.kept[0].shape:
            self.kept = [torch.cumsum(x, dim=1)]
            return self.kept[0].clone()
        result = self.kept[0].clone()
        torch.cumsum(x[:-4], dim=1, out=result[:-4])
        return result
