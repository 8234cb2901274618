import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def scale_kernel(x, y, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * s, mask=i < n)

class ModelNew(nn.Module):
    def __init__(self, s=2.0):
        super().__init__()
        self.s = s
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        scale_kernel(x, y, n, self.s, BLOCK=1024, grid=(triton.cdiv(n, 1024),))
        return y
