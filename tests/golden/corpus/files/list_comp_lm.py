import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, y, n, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    parts = [tl.load(x + i + j, mask=i + j < n, other=0.0) for j in range(K)]
    s = sum(parts)
    tl.store(y + i, s, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), 3, BLOCK=256)
        return y
