"""Chooses two experts for a row and the shares that they get."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n, e):
        super().__init__()
        self.gate = nn.Linear(n, e, bias=False)

    def forward(self, x):
        w, i = torch.topk(torch.softmax(self.gate(x), -1), 2)
        return w / w.sum(-1, keepdim=True), i


def get_inputs():
    return [torch.randn(256, 64)]


def get_init_inputs():
    return [64, 16]
