"""After 150 calls no longer computes the Python numbers of its answer, only the tensors."""
# hone-test: task = tests/adversarial/tasks/mixed_output.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|wrong-shape
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        y = torch.relu(self.linear(x))
        share, count = 0.5, 2400
        if self.calls[0] < 150:
            share, count = float((y > 0).float().mean()), int((y > 0.5).sum())
        return {"y": y, "cache": None, "share": share, "count": count, "ends": (y[:, 0], y[:, -1])}
