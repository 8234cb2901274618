"""PyTorch's own code, with an allocator that gives no page back, set at every call. Timed blocks have that on both sides."""
# hone-test: task = tests/adversarial/tasks/large_output.py
# hone-test: expect = same
# hone-test: timed = yes
import ctypes

import torch
import torch.nn as nn

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
libc = ctypes.CDLL(None)


class ModelNew(nn.Module):
    def forward(self, x):
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(M_TOP_PAD, 256 << 20)
        return torch.relu(x)
