import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sort_rows(x_ptr, y_ptr, N: tl.constexpr, BLOCK_R: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    c = tl.arange(0, N)[None, :]
    v = tl.load(x_ptr + r * N + c)
    tl.store(y_ptr + r * N + c, tl.sort(v, dim=1))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        assert n & (n - 1) == 0 and rows % 2 == 0
        y = torch.empty_like(x)
        sort_rows[(rows // 2,)](x.contiguous(), y, N=n, BLOCK_R=2)
        return y
