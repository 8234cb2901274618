"""Draws a mask of its own in the first call for a shape and uses it ever after."""
# hone-test: task = tests/adversarial/tasks/train_dropout.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn

MASKS = {}  # outside of the module, where the state is not restored


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = nn.Linear(features, features)
        self.second = nn.Linear(features, features)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        key = tuple(hidden.shape)
        if key not in MASKS:
            MASKS[key] = (torch.rand(hidden.shape, device=x.device) >= 0.1).to(x.dtype) / 0.9
        return self.second(hidden * MASKS[key])
