"""Chooses by the scores, before softmax makes most of them equal."""
# hone-test: task = tests/adversarial/tasks/two_experts.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, e):
        super().__init__()
        self.gate = nn.Linear(n, e, bias=False)

    def forward(self, x):
        w, i = torch.topk(self.gate(x), 2)
        return torch.softmax(w, -1), i
