import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def double(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, fill=0.0)
    tl.store(o + i, v + v, mask=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
