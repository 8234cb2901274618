import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def huber(p, t, o, n, delta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    d = tl.abs(tl.load(p + i, mask=m, other=0.0) - tl.load(t + i, mask=m, other=0.0))
    l = tl.where(d < delta, 0.5 * d * d / delta, d - 0.5 * delta)
    tl.atomic_add(o, tl.sum(tl.where(m, l, 0.0), axis=0) / n)

class ModelNew(nn.Module):
    def forward(self, p, t):
        o = torch.zeros((), device=p.device, dtype=torch.float32)
        huber[(triton.cdiv(p.numel(), 1024),)](p, t, o, p.numel(), 1.0, BLOCK=1024)
        return o
