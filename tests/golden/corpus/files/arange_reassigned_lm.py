import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, n, BLOCK_SIZE: tl.constexpr):
    half = BLOCK_SIZE // 2
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, half)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    tl.store(y + i + half, tl.load(x + i + half, mask=i + half < n), mask=i + half < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK_SIZE=64)
        return y
