import torch
import torch.nn as nn
import triton
from triton import language as L


@triton.jit
def decode(q_ptr, k_ptr, v_ptr, o_ptr, S, scale, D: L.constexpr, BN: L.constexpr):
    b = L.program_id(0)
    if S == 0:
        return
    d = L.arange(0, D)
    q = L.load(q_ptr + b * D + d)
    m_i = float("-inf")
    l_i = 0.0
    acc = L.zeros((D,), dtype=L.float32)
    for s0 in range(0, S, BN):
        s = s0 + L.arange(0, BN)
        ok = s < S
        k = L.load(k_ptr + (b * S + s)[:, None] * D + d[None, :], mask=ok[:, None], other=0.0)
        logits = L.sum(k * q[None, :], axis=1) * scale
        logits = L.where(ok, logits, float("-inf"))
        m_new = L.maximum(m_i, L.max(logits, axis=0))
        p = L.exp(logits - m_new)
        a = L.exp(m_i - m_new)
        v = L.load(v_ptr + (b * S + s)[:, None] * D + d[None, :], mask=ok[:, None], other=0.0)
        acc = acc * a + L.sum(p[:, None] * v, axis=0)
        l_i = l_i * a + L.sum(p, axis=0)
        m_i = m_new
    L.store(o_ptr + b * D + d, acc / l_i)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        B, S, D = k.shape
        o = torch.empty_like(q)
        decode[(B,)](q, k.contiguous(), v.contiguous(), o, S, D ** -0.5, D=D, BN=16)
        return o
