import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _stats(ptr, base, size, BLOCK: tl.constexpr):
    s = 0.0
    sq = 0.0
    for i in range(0, size, BLOCK):
        o = i + tl.arange(0, BLOCK)
        v = tl.load(ptr + base + o, mask=o < size, other=0.0)
        s += tl.sum(v)
        sq += tl.sum(v * v)
    mean = s / size
    return mean, sq / size - mean * mean


@triton.jit
def instance_norm(x_ptr, y_ptr, size, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0) * size
    mean, var = _stats(x_ptr, base, size, BLOCK)
    inv = tl.rsqrt(var + eps)
    for i in range(0, size, BLOCK):
        o = i + tl.arange(0, BLOCK)
        m = o < size
        v = tl.load(x_ptr + base + o, mask=m)
        tl.store(y_ptr + base + o, (v - mean) * inv, mask=m)


class ModelNew(nn.Module):
    def __init__(self, num_features: int):
        super().__init__()
        self.inorm = nn.InstanceNorm2d(num_features)  # keeps eps

    def forward(self, x):
        B, C, H, W = x.shape
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        instance_norm[(B * C,)](x.contiguous(), out, H * W, self.inorm.eps, BLOCK=32)
        return out
