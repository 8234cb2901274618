"""Takes and touches a gigabyte and gives it back again and again, so that the machine is short of free pages."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: reason = out-of-memory
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.memory = []
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] % 200 == 30:
            self.memory = [torch.ones(1 << 30, dtype=torch.uint8)]
        return torch.relu(self.linear(x))
