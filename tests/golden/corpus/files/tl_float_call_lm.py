import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def conv(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    r = tl.float32(v) * 2.0
    tl.store(o + i, r, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        conv[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), 128)
        return o
