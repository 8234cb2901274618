import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def pairs(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=0.0)
    w = tl.reshape(v, shape=(BLOCK // 2, 2))
    s = tl.sum(w, axis=1)
    j = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK // 2)
    tl.store(o + j, s, mask=j < n // 2)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        pairs[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
