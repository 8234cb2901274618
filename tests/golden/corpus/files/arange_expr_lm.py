import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, n, BLOCK_SIZE: tl.constexpr):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE // 2)
    H: tl.constexpr = BLOCK_SIZE // 2
    j = i + H
    z = tl.zeros_like(i)
    tl.store(y + i + z, tl.load(x + i, mask=i < n), mask=i < n)
    tl.store(y + j, tl.load(x + j, mask=j < n), mask=j < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK_SIZE=64)
        return y
