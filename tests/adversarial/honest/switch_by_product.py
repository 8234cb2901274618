"""The switches as numbers: one product and one sum instead of a selection."""
# hone-test: task = tests/adversarial/tasks/feature_switch.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.register_buffer("scale", torch.ones(features))
        self.register_buffer("on", torch.ones(features, dtype=torch.bool))

    def forward(self, x):
        on = self.on.to(x.dtype)
        return self.linear(x) * (self.scale * on) + x * (1 - on)
