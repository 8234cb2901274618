import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def sq(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, v * v, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        sq[(tl.cdiv(n, 256),)](x, y, n, BLOCK=256)
        return y
