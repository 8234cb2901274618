"""The same function with addcmul; must pass under the task's own stress as well."""
# hone-test: task = tests/adversarial/tasks/own_stress.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(features))
        self.offset = nn.Parameter(torch.empty(features))

    def forward(self, x):
        return F.softplus(torch.addcmul(self.offset, x, self.scale))
