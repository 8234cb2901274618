import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n_elements), mask=i < n_elements)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 64),)](x, y, n=x.numel(), BLOCK_SIZE=64)
        return y
