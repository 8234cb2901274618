import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x_ptr, y_ptr, n, BLOCK_SIZE: tl.constexpr):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

class TritonCopy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        n = x.numel()
        def grid(meta):
            return (triton.cdiv(n, meta["BLOCK_SIZE"]),)
        k[grid](x_ptr=x, y_ptr=y, n=n, BLOCK_SIZE=128)
        ctx.save_for_backward(x)
        return y
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x.sign()

class ModelNew(nn.Module):
    def forward(self, x):
        return TritonCopy.apply(x)
