import math
import torch
import torch.nn as nn
import triton
import triton.language as tl


LIMIT = tl.constexpr(6.0)


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    last = x
    for i in range(n):
        last = x + i
    y = tl.minimum(last, LIMIT)
    tl.store(out_ptr + offs, y, mask=mask)


def make_shift():
    @triton.jit
    def shift(x_ptr, out_ptr, n, amount, block: tl.constexpr):
        offs = tl.program_id(0) * block + tl.arange(0, block)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.store(out_ptr + offs, x + amount, mask=offs < n)

    return shift


shift = make_shift()


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        half = math.ceil(x.numel() / 2)
        scale[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        shifted = torch.empty_like(x)
        shift[(triton.cdiv(x.numel(), 256),)](out, shifted, x.numel(), 1.5, block=256)
        return shifted
