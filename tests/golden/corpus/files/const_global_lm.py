import torch
import torch.nn as nn
import triton
import triton.language as tl

BLOCK_SIZE = tl.constexpr(1024)


@triton.jit
def hardswish_kernel(x_ptr, out_ptr, n_elements):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    inner = tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0)
    tl.store(out_ptr + offsets, x * inner / 6.0, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        hardswish_kernel[(triton.cdiv(n, 1024),)](x, out, n)
        return out
