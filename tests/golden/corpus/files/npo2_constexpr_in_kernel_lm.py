import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out_ptr, in_ptr, stride, n_cols: tl.constexpr):
    row = tl.program_id(0)
    BLOCK_SIZE: tl.constexpr = triton.next_power_of_2(n_cols)
    cols = tl.arange(0, BLOCK_SIZE)
    x = tl.load(in_ptr + row * stride + cols, mask=cols < n_cols, other=-float('inf'))
    x = x - tl.max(x, axis=0)
    num = tl.exp(x)
    tl.store(out_ptr + row * stride + cols, num / tl.sum(num, axis=0), mask=cols < n_cols)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](y, x, x.stride(0), x.shape[1])
        return y
