"""Keeps a row where a uniform number of its own in double precision lies below the probability: other draws than bernoulli's."""
# hone-test: task = tests/adversarial/tasks/bernoulli.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, keep):
        kept = torch.rand(keep.shape, dtype=torch.float64, device=x.device) < keep
        return self.linear(x * (kept / keep).to(x.dtype).unsqueeze(1))
