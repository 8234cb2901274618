import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def steps(x_ptr, h_ptr, out_ptr, T, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    h = tl.load(h_ptr + offs, mask=mask, other=0.0)
    for t in range(T):
        h = h * 0.5 + tl.load(x_ptr + t * n + offs, mask=mask, other=0.0)
        tl.store(out_ptr + t * n + offs, h, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, h0):
        T, n = x.shape
        h = h0.clone()
        out = torch.empty_like(x)
        steps[(triton.cdiv(n, 256),)](x, h, out, T, n, BLOCK=256)
        return out
