"""The Python numbers of a mixed answer from float64 sums: the share may differ in its last float32 digit."""
# hone-test: task = tests/adversarial/tasks/mixed_output.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        share = (y > 0).sum().item() / y.numel()
        return {"ends": (y[:, 0], y[:, -1]), "y": y, "cache": None, "count": (y > 0.5).sum().item(), "share": share}
