import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, y, offs, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        offs = tl.arange(0, 256)
        k[(triton.cdiv(x.numel(), 256),)](x, y, offs, x.numel(), BLOCK=256)
        return y
