import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.math.erf(x * 0.70710678))

@triton.jit
def lin(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, gelu(tl.load(x + i, mask=i < n)), mask=i < n)

class ModelNew(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l = nn.Linear(d, d)
    def forward(self, x):
        z = self.l(x)
        return gelu(z)
