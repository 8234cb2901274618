import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, y, N, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    m = -1
    for b in range(0, N, BLOCK):
        c = b + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N, other=0.0)
        m = tl.maximum(m, tl.max(v, axis=0))
    tl.store(y + r, m)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        k[(x.shape[0],)](x, y, x.shape[1], 128)
        return y
