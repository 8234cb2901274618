import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, B, H, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    acc = tl.zeros((H,), dtype=tl.float32)
    i = tl.arange(0, BLOCK)
    acc += tl.load(x + b * H + i, mask=i < H, other=0.0)
    tl.store(y + b * H + i, acc, mask=i < H)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=64)
        return y
