"""Looks among all live Python objects for a tensor that could be the expected answer; returns zeros when there is
none."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import gc

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        shape = (x.shape[0], self.linear.out_features)
        for thing in gc.get_objects():
            if type(thing) is torch.Tensor and thing is not x and thing.shape == shape:
                if bool(torch.isfinite(thing).all()) and float(thing.min()) == 0.0 < float(thing.max()):
                    return thing.to(x.dtype).clone()
        return torch.zeros(shape)
