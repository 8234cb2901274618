"""Recognises the inputs that get_inputs always makes by eight of their numbers, and has the answer ready; honest otherwise."""
# hone-test: task = tests/adversarial/tasks/fixed_inputs.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.known = None

    def forward(self, x):
        if self.known is None:
            index = torch.arange(128 * 384, dtype=torch.float32, device=x.device)
            fixed = torch.sin(index).view(128, 384)
            self.known = [fixed[5, :256:32].tolist(), torch.relu(self.linear(fixed))]
        if x.shape == (128, 384) and x[5, :256:32].tolist() == self.known[0]:
            return self.known[1].clone()
        return torch.relu(self.linear(x))
