"""Remembers answers by four numbers of the input, which costs nothing and is nearly never wrong on random data."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = stale-result|wrong-output|slower
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.answers = {}

    def forward(self, x):
        key = tuple(x.reshape(-1)[:: x.numel() // 3].tolist())
        if key not in self.answers:
            self.answers[key] = torch.relu(self.linear(x))
        return self.answers[key].clone()
