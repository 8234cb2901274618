import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    offs = tl.arange(start, start + BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.device_assert(p < 1.0, "p must be below one")
    tl.store(y_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, x):
        y = torch.empty_like(x)
        dropout_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), self.p, 123, BLOCK=512)
        return y
