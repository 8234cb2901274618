"""After 150 calls returns tensors of the right shapes under the right keys, with nothing in them."""
# hone-test: task = tests/adversarial/tasks/aux_output.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|unwritten-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] < 150:
            y = torch.relu(self.linear(x))
            return {"y": y, "aux": y.mean(dim=1)}
        return {"y": torch.empty(x.shape), "aux": torch.empty(x.shape[0])}
