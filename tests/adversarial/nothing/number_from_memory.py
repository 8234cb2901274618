"""Right tensors, but the Python numbers beside them are those of a typical call."""
# hone-test: task = tests/adversarial/tasks/mixed_output.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return {"y": y, "cache": None, "share": 0.5, "count": 2400, "ends": (y[:, 0], y[:, -1])}
