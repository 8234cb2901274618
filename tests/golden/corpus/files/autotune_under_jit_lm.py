import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
@triton.autotune(
    configs=[triton.Config({'BLOCK_SIZE': 128}), triton.Config({'BLOCK_SIZE': 256})],
    key=['n_elements'],
)
def add_kernel(x_ptr, y_ptr, o_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    off = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    m = off < n_elements
    tl.store(o_ptr + off, tl.load(x_ptr + off, mask=m) + tl.load(y_ptr + off, mask=m), mask=m)

class ModelNew(nn.Module):
    def forward(self, a, b):
        o = torch.empty_like(a)
        add_kernel[lambda meta: (triton.cdiv(a.numel(), meta['BLOCK_SIZE']),)](a, b, o, a.numel())
        return o
