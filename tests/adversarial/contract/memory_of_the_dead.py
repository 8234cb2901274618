"""The answer lies in memory that was given back before it is returned."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: timed = no
# hone-test: reason = crashed
import ctypes

import torch
import torch.nn as nn


libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        out = torch.relu(self.linear(x))
        size = out.numel() * 4
        block = libc.malloc(size)
        ctypes.memmove(block, out.data_ptr(), size)
        kept = torch.frombuffer((ctypes.c_float * out.numel()).from_address(block), dtype=torch.float32).view(out.shape)
        libc.free(block)
        return kept
