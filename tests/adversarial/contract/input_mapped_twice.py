"""Maps the memory of its input a second time with mremap, and hands out that: no copy, and another address."""
# hone-test: task = tests/adversarial/tasks/copies.py
# hone-test: expect = not_accepted
# hone-test: timed = yes
import torch
import torch.nn as nn
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls < 60:
            return x.clone()
        p = x.data_ptr()
        n = x.numel() * 4
        a = p & ~4095
        q = libc.mremap(a, 0, n + 8192, 1, None)
        if q in (None, 2**64 - 1):
            return x.clone()
        return torch.frombuffer((ctypes.c_float * x.numel()).from_address(q + p - a), dtype=torch.float32).view(x.shape)
