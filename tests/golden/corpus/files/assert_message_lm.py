import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    """Doc string: for i in range(10): continue"""
    tl.static_assert(BLOCK % 32 == 0, "BLOCK must be a multiple of 32")
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(n > 0, "empty")
    v = tl.load(x + i, mask=i < n, eviction_policy="evict_first", cache_modifier=".cg")
    tl.store(y + i, -v, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
        return y
