"""The same numbers another way, and the dict in another order."""
# hone-test: task = tests/adversarial/tasks/nested_numbers.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        m = float(x.sum()) / x.numel()
        n = int(torch.count_nonzero(x > 0))
        return {"name": "stats", "flag": n > 0, "mean": m, "count": n, "shape": [int(s) for s in x.shape], "parts": (x.mul(m), None, {"z": complex(m, n)})}
