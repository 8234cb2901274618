"""Multiplies in blocks of 48 along K and forgets the last 32 of the 512, as a loop over K // BLOCK without a mask
does."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        block, weight = 48, self.linear.weight
        total = self.linear.bias.expand(x.shape[0], -1).clone()
        for i in range(x.shape[1] // block):
            part = slice(i * block, (i + 1) * block)
            total.addmm_(x[:, part], weight[:, part].t())
        return total.relu_()
