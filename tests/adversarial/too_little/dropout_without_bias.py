"""Draws a mask of its own, as PyTorch would, and leaves the last bias out: small beside what is drawn."""
# hone-test: task = tests/adversarial/tasks/train_dropout.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = nn.Linear(features, features)
        self.second = nn.Linear(features, features)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        kept = (torch.rand(hidden.shape, device=x.device) >= 0.1).to(x.dtype)
        return (hidden * kept / 0.9) @ self.second.weight.t()
