"""Remembers answers by the address of the input. Right once per address; fresh numbers at an old address get an old
answer."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = stale-result
import torch
import torch.nn as nn


answers = {}


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        key = x.data_ptr()
        if key not in answers:
            answers[key] = torch.relu(self.linear(x))
        return answers[key].clone()
