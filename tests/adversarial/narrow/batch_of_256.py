"""Returns a workspace made for the batch at hand: any other batch size gets 256 rows all the same."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|wrong-shape|crashed|unwritten-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        result = torch.empty(256, self.linear.out_features, device=x.device)
        result[: x.shape[0]] = torch.relu(self.linear(x))
        return result
