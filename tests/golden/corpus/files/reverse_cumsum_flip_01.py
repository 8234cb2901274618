import torch, torch.nn as nn, triton
from triton import language as T


@triton.jit
def rev_cumsum(x_ptr, y_ptr, n, BLOCK: T.constexpr):
    r = T.program_id(0)
    c = T.arange(0, BLOCK)
    x = T.load(x_ptr + r * n + c, mask=c < n, other=0.0)
    T.store(y_ptr + r * n + c, T.cumsum(x, axis=0, reverse=True), mask=c < n)


class ModelNew(nn.Module):
    def forward(self, x):
        r, n = x.shape
        y = torch.empty_like(x)
        rev_cumsum[(r,)](x.contiguous(), y, n, BLOCK=triton.next_power_of_2(n))
        return y
