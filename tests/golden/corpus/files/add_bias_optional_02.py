import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, bias_ptr, res_ptr, y_ptr, n, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(x_ptr + i, mask=m)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i % cols, mask=m)
    if res_ptr is not None:
        x += tl.load(res_ptr + i, mask=m)
    tl.store(y_ptr + i, tl.maximum(x, 0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x, bias=None, residual=None):
        y = torch.empty_like(x)
        opts = {"BLOCK": 96, "num_warps": 2}
        add_kernel[(triton.cdiv(x.numel(), opts["BLOCK"]),)](x, bias, residual, y, x.numel(), x.shape[-1], **opts)
        return y
