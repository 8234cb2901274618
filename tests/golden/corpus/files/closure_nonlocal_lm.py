import torch, torch.nn as nn, triton
import triton.language as tl

def build(alpha, block):
    @triton.jit
    def elu(x, y, n):
        i = tl.program_id(0) * block + tl.arange(0, block)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, tl.where(v > 0, v, alpha * (tl.exp(v) - 1.0)), mask=i < n)
    return elu

class ModelNew(nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.fn = build(alpha, 512)
    def forward(self, x):
        y = torch.empty_like(x)
        self.fn[(triton.cdiv(x.numel(), 512),)](x, y, x.numel())
        return y
