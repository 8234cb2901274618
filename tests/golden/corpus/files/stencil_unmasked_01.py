import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def stencil(x, o, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    m = c < n
    row = tl.program_id(0)
    v = tl.load(x + row + c) + tl.load(x + row + c + 1)
    tl.store(o + row + c, v)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        stencil[(1,)](x, o, x.numel() - 1, BLOCK=64)
        return o
