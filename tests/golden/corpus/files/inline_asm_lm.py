import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def fast_tanh(x):
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)

@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, fast_tanh(tl.load(x + i, mask=i < n, other=0.)), mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[triton.cdiv(x.numel(), 256), ](x, y, x.numel(), BLOCK=256)
        return y
