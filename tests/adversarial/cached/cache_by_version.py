"""Skips the work when the input is the same tensor at the same version as in the call before, so that of many
identical calls only the first computes. Without fresh inputs in every timed call it looks very fast."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = stale-result|slower
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.seen = None
        self.answer = None

    def forward(self, x):
        key = (x.data_ptr(), x._version, x.shape)
        if key != self.seen:
            self.seen, self.answer = key, torch.relu(self.linear(x))
        return self.answer.clone()
