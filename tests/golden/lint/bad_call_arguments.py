import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    lane = tl.arange(BLOCK)  # expect: bad-call-arguments
    y = x + tl.sum(x, axis=0, keepdims=True)  # expect: bad-call-arguments
    y = tl.float32(y)  # expect: bad-call-arguments
    y += tl.load(x_ptr + offs, msk=mask, fill=0.0)  # expect: bad-call-arguments
    y += tl.zeros(BLOCK, dtype=tl.float32)  # expect: bad-call-arguments
    y = tl.exp(y, dtype=tl.float32)  # expect: bad-call-arguments
    y = tl.where(mask, y)  # expect: bad-call-arguments
    tl.store(out_ptr + offs, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        blocks = triton.cdiv(x.numel(), 256)
        scale[blocks](x, out, x.numel(), BLOCK=256)  # expect: bad-call-arguments
        return out
