import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def welford_combine(m1, s1, n1, m2, s2, n2):
    d = m2 - m1
    n = n1 + n2
    r = tl.where(n == 0.0, 0.0, n2 / n)
    return m1 + d * r, s1 + s2 + d * d * n1 * r, n

@triton.jit
def var_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    cnt = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, N, BLOCK):
        c = s + tl.arange(0, BLOCK)
        m = c < N
        v = tl.load(x + row * N + c, mask=m, other=0.0).to(tl.float32)
        cnt_new = cnt + m.to(tl.float32)
        d = v - mean
        mean = tl.where(m, mean + d / cnt_new, mean)
        m2 = tl.where(m, m2 + d * (v - mean), m2)
        cnt = cnt_new
    M, S, C = tl.reduce((mean, m2, cnt), 0, welford_combine)
    tl.store(out + row, S / C)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty(x.shape[0], device=x.device)
        var_kernel[(x.shape[0],)](x, o, x.shape[1], BLOCK=128)
        return o
