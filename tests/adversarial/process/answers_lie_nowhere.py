"""In timed blocks it names addresses that no memory has: zero, the top of the address space, a file cut to nothing."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped|crashed|wrong-output|unwritten-output|stale-result
# hone-test: timed = yes
import ctypes
import mmap
import os
import sys

import torch
import torch.nn as nn


hone_clock = sys.modules["hone_clock"]
_real = hone_clock.Clock._tell_addresses


def _nowhere(self, outputs, form, reply):
    _real(self, outputs, form, reply)
    file = os.memfd_create("short")
    os.ftruncate(file, 1 << 20)
    self.cut = mmap.mmap(file, 1 << 20)
    where = ctypes.addressof(ctypes.c_char.from_buffer(self.cut))
    os.ftruncate(file, 0)
    choices = [where, (1 << 63) - 4096, 1]
    reply["answers"] = [[choices[at % 3] for _ in one] for at, one in enumerate(reply["answers"])]


hone_clock.Clock._tell_addresses = _nowhere


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
