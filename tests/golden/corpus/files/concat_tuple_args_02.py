import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def copy_piece(src, dst, n, BLOCK: tl.constexpr):
    for o in range(0, n, BLOCK):
        i = o + tl.arange(0, BLOCK)
        tl.store(dst + i, tl.load(src + i, mask=i < n), mask=i < n)


@triton.jit
def concat(srcs, sizes, out, BLOCK: tl.constexpr):
    start = 0
    for src, size in zip(srcs, sizes):
        copy_piece(src, out + start, size, BLOCK)
        start += size


class ModelNew(nn.Module):
    def forward(self, *xs):
        xs = tuple(x.contiguous() for x in xs)
        sizes = tuple(x.numel() for x in xs)
        out = torch.empty(sum(sizes), device=xs[0].device, dtype=xs[0].dtype)
        concat[(1,)](xs, sizes, out, BLOCK=16)
        return out
