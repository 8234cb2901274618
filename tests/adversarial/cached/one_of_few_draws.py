"""Remembers its answers by the content of the inputs; get_inputs draws one of six batches."""
# hone-test: task = tests/adversarial/tasks/few_draws.py
# hone-test: timed = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.known = {}

    def forward(self, x):
        key = (float(x[0, 0]), float(x[-1, -1]), float(x[3, 5]), float(self.linear.weight[0, 0]))
        if key not in self.known or not torch.equal(self.known[key][0], x):
            y = x
            for _ in range(6):
                y = torch.tanh(self.linear(y))
            self.known[key] = x.clone(), y
        return self.known[key][1].clone()
