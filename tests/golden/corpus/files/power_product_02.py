import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def poly(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EXP: tl.constexpr = 2 ** 1 + 1):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=1.0)
    scale: tl.constexpr = 2 ** 4 / 16
    p = x
    p = x ** EXP
    tl.store(y_ptr + i, scale * p + libdevice.pow(x, 0.5), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        poly[(triton.cdiv(x.numel(), 2 ** 7),)](x, y, x.numel(), BLOCK=2 ** 7)
        return y
