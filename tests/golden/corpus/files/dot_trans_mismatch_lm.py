import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def scores(q, k, o, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    qv = tl.load(q + rm[:, None] * D + d[None, :], mask=rm[:, None] < S, other=0.0)
    kv = tl.load(k + rn[:, None] * D + d[None, :], mask=rn[:, None] < S, other=0.0)
    s = tl.dot(qv, kv)
    tl.store(o + rm[:, None] * S + rn[None, :], s, mask=(rm[:, None] < S) & (rn[None, :] < S))

class ModelNew(nn.Module):
    def forward(self, q, k):
        S, D = q.shape
        o = torch.empty(S, S, device=q.device)
        scores[(triton.cdiv(S, 64), triton.cdiv(S, 32))](q, k, o, S, D=128, BM=64, BN=32)
        return o
