import torch
import torch.nn as nn
import triton
import triton.language as tl


LIMIT = 6.0


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    for i in range(n):
        last = x + i
    y = tl.minimum(last, LIMIT)  # expect: name-not-defined
    tl.store(out_ptr + offs, y, mask=mask)


def make_shift(amount, block):
    @triton.jit
    def shift(x_ptr, out_ptr, n):
        offs = tl.program_id(0) * 256 + tl.arange(0, 256)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.store(out_ptr + offs, x + amount, mask=offs < block)  # expect: name-not-defined

    return shift


shift = make_shift(1.5, 256)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        half = math.ceil(x.numel() / 2)  # expect: name-not-defined
        scale[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        shifted = torch.empty_like(x)
        shift[(triton.cdiv(x.numel(), 256),)](out, shifted, x.numel())
        return shifted
