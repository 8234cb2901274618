import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def bce(p, t, o, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    pv = tl.load(p + i, mask=i < n, other=0.5)
    tv = tl.load(t + i, mask=i < n, other=0.0)
    if pid == 0:
        scale = 1.0
        loss = -(tv * tl.log(pv) + (1 - tv) * tl.log(1 - pv))
    tl.store(o + i, loss * scale, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, p, t):
        o = torch.empty_like(p)
        bce[(triton.cdiv(p.numel(), 256),)](p, t, o, p.numel(), BLOCK=256)
        return o.mean()
