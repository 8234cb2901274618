"""The same attention with bmm and the scale moved to q; must pass, both outputs compared."""
# hone-test: task = tests/adversarial/tasks/several_inputs.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.out = nn.Linear(features, features)

    def forward(self, q, k, v, scale):
        weights = torch.softmax(torch.bmm(q * scale, k.transpose(1, 2)), dim=-1)
        return self.out(torch.bmm(weights, v)), weights
