import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * s, mask=i < n)

class ModelNew(nn.Module):
    def __init__(self, scaling_factor, hidden):
        super().__init__()
        self.lin = nn.Linear(hidden, hidden)
    def forward(self, x):
        x = self.lin(x)
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), scaling_factor, BLOCK=64)
        return y
