"""Prints at import and in every call, warns, and leaves a file in its own working folder. Nothing of that is
forbidden."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = correct
import os
import sys
import tempfile
import warnings

import torch
import torch.nn as nn


print("compiling kernels...")
warnings.warn("a warning at import")
with open(os.path.join(tempfile.gettempdir(), "autotune.cache"), "w") as cache:
    cache.write("BLOCK=128\n")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        print("forward", tuple(x.shape), file=sys.stderr)
        return torch.relu(self.linear(x))
