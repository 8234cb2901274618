import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def cumprod_kernel(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 1.0
    s = 0
    while s < N:
        c = s + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + c, mask=c < N, other=1.0)
        p = tl.cumprod(v, axis=0) * carry
        tl.store(y + row * N + c, p, mask=c < N)
        carry = carry * tl.reduce(v, 0, _mul)
        s += BLOCK

@triton.jit
def _mul(a, b):
    return a * b

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
    def forward(self, x):
        y = torch.empty_like(x)
        cumprod_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=256)
        return y
