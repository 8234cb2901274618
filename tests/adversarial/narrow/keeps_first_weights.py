"""Folds gamma into its own copy of a weight at the first call and never looks at the parameters again."""
# hone-test: task = tests/adversarial/tasks/layer_scale.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import torch
import torch.nn as nn
import torch.nn.functional as F

FOLDED = {}


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.up = nn.Linear(features, 4 * features)
        self.down = nn.Linear(4 * features, features)
        self.gamma = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        if not FOLDED:
            FOLDED["weight"] = self.down.weight * self.gamma.unsqueeze(1)
            FOLDED["bias"] = self.down.bias * self.gamma
        return x + F.linear(F.gelu(self.up(x)), FOLDED["weight"], FOLDED["bias"])
