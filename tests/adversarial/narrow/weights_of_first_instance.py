"""Packs the weights once for all instances: right for the first set of weights, wrong for any other."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|weights-not-transferred
import torch
import torch.nn as nn


packed = []


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        if not packed:
            packed.append(self.linear.weight.detach().t().contiguous())
            packed.append(self.linear.bias.detach().clone())
        return torch.relu(torch.addmm(packed[1], x, packed[0]))
