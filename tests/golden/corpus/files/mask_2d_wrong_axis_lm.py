import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def add_bias(x, b, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rm < M) & (rn < N)
    ptr = x + rm[:, None] * N + rn[None, :]
    v = tl.load(ptr, mask=mask, other=0.0)
    tl.store(y + rm[:, None] * N + rn[None, :], v + tl.load(b + rn, mask=rn < N)[None, :], mask=mask)

class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(n))
    def forward(self, x):
        y = torch.empty_like(x)
        M, N = x.shape
        add_bias[(triton.cdiv(M, 32), triton.cdiv(N, 64))](x, self.bias, y, M, N, BM=32, BN=64)
        return y
