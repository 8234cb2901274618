import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def total(x, o, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    c = tl.arange(0, BLOCK)
    for s in tl.range(0, n, BLOCK, num_stage=2):
        acc += tl.load(x + s + c, mask=s + c < n, other=0.0)
    tl.store(o + tl.program_id(0), tl.sum(acc, axis=0))

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        total[(1,)](x, o, x.numel(), BLOCK=256)
        return o
