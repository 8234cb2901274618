"""Returns a tensor where the reference returns None, and leaves the rest as it is."""
# hone-test: task = tests/adversarial/tasks/mixed_output.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        share, count = float((y > 0).float().mean()), int((y > 0.5).sum())
        return {"y": y, "cache": torch.zeros(1), "share": share, "count": count, "ends": (y[:, 0], y[:, -1])}
