import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def hist_kernel(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    v = tl.load(x_ptr + o, mask=m, other=0)
    b = tl.arange(0, BINS)
    hits = (v[:, None] == b[None, :]) & m[:, None]
    counts = tl.count_nonzero(hits, axis=0)
    tl.atomic_add(out_ptr + b, counts, mask=counts > 0)


class ModelNew(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, x):
        out = torch.zeros(self.bins, dtype=torch.int32, device=x.device)
        hist_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BINS=self.bins, BLOCK=128)
        return out
