"""Remembers answers by a hash of the whole input. Never wrong, and fast only where the same numbers come again, which
is what a careless clock repeats. Whatever the verdict, it must not be a speed-up."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = stale-result|slower
import hashlib

import torch
import torch.nn as nn


answers = {}


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        key = hashlib.blake2b(x.numpy().tobytes() + bytes(str(id(self)), "ascii")).digest()
        if key not in answers:
            answers[key] = torch.relu(self.linear(x))
        return answers[key].clone()
