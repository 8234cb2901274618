"""Returns softplus of the offset and never looks at x. As initialised that is right to 1e-3; the task's own stress
shows it."""
# hone-test: task = tests/adversarial/tasks/own_stress.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(features))
        self.offset = nn.Parameter(torch.empty(features))

    def forward(self, x):
        return F.softplus(0.5 * self.scale + self.offset).expand_as(x).clone()
