import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def rowmean(x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    total = 0.0
    for s in range(0, N, BN):
        c = s + tl.arange(0, BN)
        v = tl.load(x + r[:, None] * N + c[None, :], mask=c[None, :] < N, other=0.0)
        total += tl.sum(v, axis=1)
    tl.store(y + r, total / N)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        rowmean[(triton.cdiv(x.shape[0], 16),)](x, y, x.shape[1], BM=16, BN=64)
        return y
