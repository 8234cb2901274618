import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, y, n, T, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for t in range(T):
        v = tl.load(x + t * n + i, mask=i < n, other=0.)
        if tl.sum(v) == 0:
            return
        acc += v
    tl.store(y + i, acc, mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[1], device=x.device)
        k[(triton.cdiv(x.shape[1], 256),)](x, y, x.shape[1], x.shape[0], BLOCK=256)
        return y
