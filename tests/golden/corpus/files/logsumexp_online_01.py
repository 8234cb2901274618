import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _combine(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    return m, s_a * tl.exp(m_a - m) + s_b * tl.exp(m_b - m)


@triton.jit
def lse_kernel(x_ptr, out_ptr, n_cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    running_max = tl.full((), float("-inf"), tl.float32)
    running_sum = tl.full((), 0.0, tl.float32)
    ptr = x_ptr + row * stride
    start = 0
    while start < n_cols:
        idx = start + tl.arange(0, BLOCK)
        v = tl.load(ptr + idx, mask=idx < n_cols, other=float("-inf"))
        bm = tl.max(v, 0)
        bs = tl.sum(tl.exp(v - bm), 0)
        running_max, running_sum = _combine(running_max, running_sum, bm, bs)
        start += BLOCK
    tl.store(out_ptr + row, running_max + tl.log(running_sum))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        x = x.contiguous()
        out = x.new_empty(x.shape[0])
        lse_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), BLOCK=16)
        return out
