import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, w_ptr, out_ptr, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x * tl.load(w_ptr + offs % SIZE, mask=mask, other=0.0), mask=mask)


class ModelNew(nn.Module):  # expect: weights-not-transferable
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.factor = nn.Parameter(torch.ones(size))  # expect: weights-not-transferable
        self.fc = nn.Parameter(torch.randn(size, 32))  # expect: weights-not-transferable
        self.gru = nn.GRU(32, 64)  # expect: weights-not-transferable
        self.conv = nn.Conv2d(3, 8, (3, 5), bias=False)  # expect: weights-not-transferable
        self.norm = nn.LayerNorm((size, 1))  # expect: weights-not-transferable

    def forward(self, x):
        out = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 256),)](x, self.factor, out, x.numel(), SIZE=self.size, BLOCK=256)
        return out
