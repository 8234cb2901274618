import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, y, C, KH: tl.constexpr, KW: tl.constexpr):
    r = tl.program_id(0)
    taps = KH * KW
    c = tl.arange(0, taps)
    v = tl.load(x + r * taps + c)
    tl.store(y + r, tl.sum(v))

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        k[(x.shape[0],)](x, y, 1, 4, 4)
        return y
