"""Zeros for a SIREN: where PyTorch's own float32 error is large, a limit that follows it lets zeros pass."""
# hone-test: task = tests/adversarial/tasks/siren.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.unused = nn.Linear(features, 1)

    def load_reference(self, state):
        pass

    def forward(self, x):
        return torch.zeros(x.shape[0], 1, device=x.device)
