import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def k(x, y, N: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    nb: tl.constexpr = (N + BLOCK - 1) // BLOCK
    acc = tl.zeros((BLOCK,), tl.float32)
    for b in tl.static_range(nb):
        c = b * BLOCK + tl.arange(0, BLOCK)
        acc += tl.load(x + r * N + c, mask=c < N, other=0)
    tl.store(y + r, tl.sum(acc))

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        k[(x.shape[0],)](x, y, x.shape[1], 128)
        return y
