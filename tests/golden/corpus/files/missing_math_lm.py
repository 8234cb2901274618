import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def attn_scale(s, y, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(s + i, mask=i < n) * scale, mask=i < n)

class ModelNew(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.scale = 1.0 / math.sqrt(d_model // n_head)
    def forward(self, x):
        y = torch.empty_like(x)
        attn_scale[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), self.scale, BLOCK=256)
        return y
