import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def tri_mm(a, b, c, N, BLOCK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    if pn > pm:
        return
    rm = pm * BLOCK + tl.arange(0, BLOCK)
    rn = pn * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for kb in range(pn, pm + 1):
        rk = kb * BLOCK + tl.arange(0, BLOCK)
        av = tl.load(a + rm[:, None] * N + rk[None, :], mask=(rm[:, None] < N) & (rk[None, :] < N), other=0.0)
        bv = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < N) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(av, bv, allow_tf32=False)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < N) & (rn[None, :] < N))

class ModelNew(nn.Module):
    def forward(self, A, B):
        N = A.shape[0]
        C = torch.zeros_like(A)
        g = triton.cdiv(N, 32)
        tri_mm[(g, g)](A, B, C, N, BLOCK=32)
        return C.tril()
