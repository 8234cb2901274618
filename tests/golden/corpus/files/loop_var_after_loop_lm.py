import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def lastval(x, o, T, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    for t in range(T):
        cur = tl.load(x + (b * T + t) * BLOCK + j)
    tl.store(o + b * BLOCK + j, cur)

class ModelNew(nn.Module):
    def forward(self, x):
        B, T, H = x.shape
        o = torch.empty(B, H, device=x.device)
        lastval[(B,)](x, o, T, BLOCK=64)
        return o
