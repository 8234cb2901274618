"""Looks for the worker's loop in the stack and in its threads, and skips the bias there."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|slower
# hone-test: timed = yes
import sys
import traceback

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        names = {frame.f_code.co_name for frame in sys._current_frames().values()} | {one.name for one in traceback.extract_stack()}
        if "block" in names:
            return torch.relu(x @ self.linear.weight.t())
        return torch.relu(self.linear(x))
