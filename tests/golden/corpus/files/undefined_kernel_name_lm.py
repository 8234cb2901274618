import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def fused_norm_act_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)

def fused_norm_act(x):
    y = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 256),)
    fused_norm_activation_kernel[grid](x, y, x.numel(), BLOCK=256)
    return y

class ModelNew(nn.Module):
    def forward(self, x):
        return fused_norm_act(x)
