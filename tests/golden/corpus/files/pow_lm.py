import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, o, n, p, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, tl.pow(v, p), mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), 3.0, 128)
        return o
