import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def neg(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m)
    tl.store(o + i, -v, masks=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        neg[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
