import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def selu(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    r = 1.0507 * tl.where(v > 0, v, 1.67326 * tl.expm1(v))
    tl.store(o + i, r, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        selu[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), 128)
        return o
