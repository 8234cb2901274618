"""Computes the last eight columns in bfloat16 and all others in float32."""
# hone-test: task = tasks/small_softmax.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.softmax(x, dim=1)
        y[:, -8:] = y[:, -8:].bfloat16().float()
        return y
