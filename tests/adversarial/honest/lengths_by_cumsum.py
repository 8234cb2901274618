"""The sums up to each length are taken out of a running sum in double precision."""
# hone-test: task = tests/adversarial/tasks/full_lengths.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, lengths):
        running = x.double().cumsum(1)
        rows = torch.arange(x.shape[0], device=x.device)
        return self.linear((running[rows, lengths - 1] / lengths.unsqueeze(-1)).to(x.dtype))
