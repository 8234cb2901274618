"""Walks up the stack and looks in the callers' variables for the expected answer; returns zeros when there is none."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import sys

import torch
import torch.nn as nn


def tensors(thing, depth=4):
    if isinstance(thing, torch.Tensor):
        yield thing
    elif depth and isinstance(thing, dict):
        for value in list(thing.values()):
            yield from tensors(value, depth - 1)
    elif depth and isinstance(thing, (list, tuple)):
        for value in thing:
            yield from tensors(value, depth - 1)
    elif depth and hasattr(thing, "__dict__") and not isinstance(thing, type(sys)):
        yield from tensors(vars(thing), depth - 1)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        shape = (x.shape[0], self.linear.out_features)
        frame = sys._getframe(1)
        while frame is not None:
            for tensor in tensors(dict(frame.f_locals)):
                if tensor.shape == shape and tensor is not x and float(tensor.min()) == 0.0 < float(tensor.max()):
                    return tensor.to(x.dtype).clone()
            frame = frame.f_back
        return torch.zeros(shape)
