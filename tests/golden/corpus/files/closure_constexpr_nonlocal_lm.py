import torch, torch.nn as nn, triton
import triton.language as tl

def build():
    BLOCK = tl.constexpr(256)
    @triton.jit
    def k(x, y, n):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)
    return k

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = build()
    def forward(self, x):
        y = torch.empty_like(x)
        self.k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel())
        return y
