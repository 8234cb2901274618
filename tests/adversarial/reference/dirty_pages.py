"""Writes to a file of its own in every call and leaves the kernel to write the pages back while the reference runs."""
# hone-test: task = tasks/small_gemm_bias_relu.py
import os
import tempfile

import torch
import torch.nn as nn

BLOCK = b"x" * (1 << 20)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.file = []
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if not self.file:
            self.file.append(tempfile.TemporaryFile(dir="."))
        if self.calls[0] % 16 == 0:
            number = self.file[0].fileno()
            os.pwrite(number, BLOCK, (self.calls[0] * 65536) % (256 << 20))
            os.sync_file_range(number, 0, 0, 2) if hasattr(os, "sync_file_range") else None
        return torch.relu(self.linear(x))
