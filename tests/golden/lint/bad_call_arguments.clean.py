import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    lane = tl.arange(0, BLOCK)
    y = x + tl.sum(x, axis=0, keep_dims=True)
    y = tl.cast(y, tl.float32)
    y += tl.load(x_ptr + offs, mask=mask, other=0.0)
    y += tl.zeros((BLOCK,), dtype=tl.float32)
    y = tl.exp(y.to(tl.float32))
    y = tl.where(mask, y, 0.0)
    tl.store(out_ptr + offs, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        blocks = triton.cdiv(x.numel(), 256)
        scale[blocks,](x, out, x.numel(), BLOCK=256)
        return out
