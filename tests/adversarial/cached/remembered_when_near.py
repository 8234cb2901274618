"""Computes once for inputs near one, and answers with that from then on. Every answer is right to rounding."""
# hone-test: task = tests/adversarial/tasks/draws_hardly_differ.py
# hone-test: expect = not_accepted
# hone-test: reason = cannot_judge
# hone-test: timed = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.kept = None

    def forward(self, x):
        near = bool((x[0, :4] - 1).abs().max() < 1e-4)
        if near and self.kept is not None and self.kept[1] is self.fc.weight and self.kept[0].shape[0] == x.shape[0]:
            return self.kept[0].clone()
        y = torch.softmax(self.fc(x).sin().exp(), -1)
        if near:
            self.kept = (y, self.fc.weight)
        return y
