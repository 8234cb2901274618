"""Source that some judges reject on sight: try/except/pass, unused imports, the words "skip" and "fallback". It is
right, and must pass."""
# hone-test: task = tasks/small_layer_norm.py
# hone-test: target = cpu
# hone-test: expect = correct
import math  # noqa: F401

import torch
import torch.nn as nn


try:
    import triton  # noqa: F401
except ImportError:
    pass


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.skip = False

    def forward(self, x):
        try:
            if self.skip:
                raise RuntimeError("skip")
            return torch.layer_norm(x, self.norm.normalized_shape, self.norm.weight, self.norm.bias, self.norm.eps)
        except RuntimeError:
            pass
        return self.norm(x)  # the fallback is right as well
