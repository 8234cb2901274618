import torch
import torch.nn as nn
import triton
import triton.language as lang


@triton.jit
def minmax(x_ptr, y_ptr, cols, BLOCK: lang.constexpr):
    assert BLOCK >= 16, "small rows are padded to 16"
    r = lang.program_id(0)
    c = lang.arange(0, BLOCK)
    m = c < cols
    x = lang.load(x_ptr + r * cols + c, mask=m, other=0.0)
    lo = lang.min(lang.where(m, x, float("inf")), axis=0)
    hi = lang.where(m, x, float("-inf")).max(axis=0)
    span = hi - lo
    if span == 0.0:
        y = lang.zeros_like(x)
    else:
        y = (x - lo) / span
    lang.store(y_ptr + r * cols + c, y, mask=m)
    return


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rows, cols = x.shape
        minmax[(rows,)](x.contiguous(), y, cols, BLOCK=max(16, triton.next_power_of_2(cols)))
        return y
