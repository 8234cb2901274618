import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def center(x, o, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < n
    v = tl.load(x + row * n + c, mask=m, other=0.0)
    mean = v.sum(dim=0) / n
    tl.store(o + row * n + c, v - mean, mask=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        rows, n = x.shape
        center[(rows,)](x, o, n, BLOCK=triton.next_power_of_2(n))
        return o
