import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def pad(x, y, H, W, n, P: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = i // W - P
    w = i % W - P
    ok = (h >= 0) and (h < H) and (w >= 0) and (w < W)
    tl.store(y + i, tl.load(x + h * W + w, mask=ok, other=0.0), mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        pad[(triton.cdiv(x.numel(), 64),)](x, y, x.shape[0], x.shape[1], x.numel(), P=1, BLOCK=64)
        return y
