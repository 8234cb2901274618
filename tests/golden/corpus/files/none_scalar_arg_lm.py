import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def ln(x, w, b, y, N, eps, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    v = tl.load(x + r * N + c, mask=m, other=0.0).to(tl.float32)
    mu = tl.sum(v, 0) / N
    d = tl.where(m, v - mu, 0.)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / N + eps)
    o = d * rstd
    if w is not None:
        o = o * tl.load(w + c, mask=m)
    if HAS_BIAS:
        o += tl.load(b + c, mask=m)
    tl.store(y + r * N + c, o, mask=m)

class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = None
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.shape[-1]
        ln[(x.numel() // n,)](x, self.weight, self.bias, y, n, 1e-5, HAS_BIAS=self.bias is not None, BLOCK=triton.next_power_of_2(n))
        return y
