import torch
import torch.nn as nn
import triton
import triton.language as lang


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, n_cols, BLOCK: lang.constexpr):
    row = lang.program_id(0)
    carry = 0.0
    for start in range(0, n_cols, BLOCK):
        offs = start + lang.arange(0, BLOCK)
        m = offs < n_cols
        x = lang.load(x_ptr + row * n_cols + offs, mask=m, other=0.0)
        y = lang.associative_scan(x, 0, _add) + carry
        lang.store(y_ptr + row * n_cols + offs, y, mask=m)
        carry += lang.sum(x, axis=0)


class ModelNew(nn.Module):
    """Inclusive prefix sum along dim 1."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, cols = x.shape
        for d in range(x.dim()):
            if d != self.dim:
                continue
            cumsum_kernel[(rows,)](x, out, cols, BLOCK=32)
            break
        return out
