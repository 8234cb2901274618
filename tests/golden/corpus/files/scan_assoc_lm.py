import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def op(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2

@triton.jit
def ssm(a, b, h, T, D, BT: tl.constexpr):
    bid = tl.program_id(0)
    d = tl.program_id(1)
    t = tl.arange(0, BT)
    off = (bid * T + t) * D + d
    av = tl.load(a + off, mask=t < T, other=1.0)
    bv = tl.load(b + off, mask=t < T, other=0.0)
    _, hv = tl.associative_scan((av, bv), 0, op)
    tl.store(h + off, hv, mask=t < T)

class ModelNew(nn.Module):
    def forward(self, a, b):
        B, T, D = a.shape
        h = torch.empty_like(a)
        ssm[(B, D)](a, b, h, T, D, BT=triton.next_power_of_2(T))
        return h
