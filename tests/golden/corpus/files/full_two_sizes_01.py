import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def fill(x, o, n, R: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, BLOCK)
    at = r[:, None] * BLOCK + c[None, :]
    m = at < n
    v = tl.load(x + at, mask=m, other=0.0)
    low = tl.full(R, BLOCK, 0.25, dtype=tl.float32)
    tl.store(o + at, tl.maximum(v, low), mask=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        fill[(1,)](x, o, x.numel(), R=16, BLOCK=64)
        return o
