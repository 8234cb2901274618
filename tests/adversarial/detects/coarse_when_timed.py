"""After 150 calls leaves out an eighth of the inner dimension, chosen where the weights are smallest."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] < 150:
            return torch.relu(self.linear(x))
        weight = self.linear.weight
        return torch.relu(torch.addmm(self.linear.bias, x[:, :448], weight[:, :448].t()))
