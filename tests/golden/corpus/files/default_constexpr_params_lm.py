import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def gn(x, y, w, b, C, HW, G, eps=1e-5, BLOCK_SIZE: tl.constexpr = 1024):
    ng = tl.program_id(0)
    cg = C // G
    n = cg * HW
    base = ng * n
    s = 0.0
    ss = 0.0
    for st in range(0, n, BLOCK_SIZE):
        o = st + tl.arange(0, BLOCK_SIZE)
        v = tl.load(x + base + o, mask=o < n, other=0.0)
        s += tl.sum(v)
        ss += tl.sum(v * v)
    mean = s / n
    rstd = tl.rsqrt(ss / n - mean * mean + eps)
    g = ng % G
    for st in range(0, n, BLOCK_SIZE):
        o = st + tl.arange(0, BLOCK_SIZE)
        ch = g * cg + o // HW
        v = tl.load(x + base + o, mask=o < n, other=0.0)
        tl.store(y + base + o, (v - mean) * rstd * tl.load(w + ch, mask=o < n) + tl.load(b + ch, mask=o < n), mask=o < n)

class ModelNew(nn.Module):
    def __init__(self, C, G):
        super().__init__()
        self.gn = nn.GroupNorm(G, C)
    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        gn[(N * self.gn.num_groups,)](x, y, self.gn.weight, self.gn.bias, C, H * W, self.gn.num_groups)
        return y
