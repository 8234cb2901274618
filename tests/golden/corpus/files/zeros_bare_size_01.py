import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def acc(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    acc = tl.zeros(BLOCK, dtype=tl.float32)
    acc += tl.load(x + i, mask=m, other=0.0)
    tl.store(o + i, acc, mask=m)

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        acc[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
