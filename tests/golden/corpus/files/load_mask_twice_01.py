import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, m, mask=m)
    tl.store(o + i, v, mask=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        copy[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
