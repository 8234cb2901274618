"""Takes and touches two gigabytes and gives them back again and again, so that the machine is short of free pages."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: timeout = 20
# hone-test: reason = out-of-memory
import mmap

import torch
import torch.nn as nn

SIZE = 2 << 30


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.memory = []
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] % 200 == 30:
            self.memory = [mmap.mmap(-1, SIZE)]
            for at in range(0, SIZE, 4096):
                self.memory[0][at] = 1
        return torch.relu(self.linear(x))
