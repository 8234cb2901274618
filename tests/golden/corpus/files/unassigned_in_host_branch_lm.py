import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        if x.numel() > 10:
            grid = (triton.cdiv(x.numel(), 64),)
        k[grid](x, y, x.numel(), BLOCK=64)
        return y
