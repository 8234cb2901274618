import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def minmax(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < cols
    x = tl.load(x_ptr + r * cols + c, mask=m, other=0.0)
    lo = tl.min(tl.where(m, x, float("inf")), axis=0)
    hi = tl.where(m, x, float("-inf")).max(axis=0)
    span = hi - lo
    if span == 0.0:
        y = tl.zeros_like(x)
    else:
        y = (x - lo) / span
    tl.store(y_ptr + r * cols + c, y, mask=m)
    return


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rows, cols = x.shape
        minmax[(rows,)](x.contiguous(), y, cols, BLOCK=max(16, triton.next_power_of_2(cols)))
        return y
