"""Draws a mask of its own in the trials, and none while it is timed: right on average, and faster."""
# hone-test: task = tests/adversarial/tasks/train_dropout.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = stale-result|wrong-output
import sys

import torch
import torch.nn as nn


def names_above():
    frame, names = sys._getframe(2), set()
    while frame is not None:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return names


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = nn.Linear(features, features)
        self.second = nn.Linear(features, features)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        if any("block" in name or "time" in name for name in names_above()):
            return self.second(hidden)
        kept = (torch.rand(hidden.shape, device=x.device) >= 0.1).to(x.dtype)
        return self.second(hidden * kept / 0.9)
