"""Keeps a workspace per shape for intermediate results; the answer is a fresh tensor."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])
        self.space = {}

    def forward(self, x):
        key = (x.shape, x.dtype, x.device)
        if key not in self.space:
            self.space[key] = [torch.empty(x.shape, dtype=x.dtype, device=x.device) for _ in range(2)]
        for i, layer in enumerate(self.layers):
            buffer = self.space[key][i % 2]
            torch.addmm(layer.bias, x, layer.weight.t(), out=buffer)
            x = buffer.relu_()
        return x.clone()
