import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sq_partial(x, p, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(p + tl.program_id(0), (v * v).sum(axis=0))


@triton.jit
def finish(p, s, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for o in range(0, n, BLOCK):
        i = o + tl.arange(0, BLOCK)
        acc += tl.load(p + i, mask=i < n, other=0.0)
    tl.store(s, tl.sqrt(tl.sum(acc)))


@triton.jit
def divide(x, s, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.fdiv(tl.load(x + i, mask=i < n), tl.load(s)), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        blocks = triton.cdiv(n, 256)
        buffers = {name: torch.empty(size, device=x.device) for name, size in (("p", blocks), ("s", 1))}
        y = torch.empty_like(x)
        sq_partial[(blocks,)](x, buffers["p"], n, BLOCK=256)
        finish[(1,)](buffers["p"], buffers["s"], blocks, BLOCK=256)
        divide[(num_blocks,)](x, buffers["s"], y, n, BLOCK=256)
        return y
