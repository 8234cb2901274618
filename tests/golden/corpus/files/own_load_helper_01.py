import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def load(p, msk, fill):
    return tl.load(p, mask=msk, other=fill)

@triton.jit
def k(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = load(x + i, msk=m, fill=1.0)
    tl.store(o + i, v, mask=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
