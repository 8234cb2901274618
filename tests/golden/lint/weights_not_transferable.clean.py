import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, w_ptr, out_ptr, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x * tl.load(w_ptr + offs % SIZE, mask=mask, other=0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.scale = nn.Parameter(torch.ones(size))
        width = 4 * 8
        self.fc = nn.Linear(in_features=size, out_features=width)
        self.gru = nn.GRU(width, 16, num_layers=1)
        self.conv = nn.Conv2d(3, 8, (3, 3))
        self.norm = nn.LayerNorm((size,))

    def forward(self, x):
        out = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 256),)](x, self.scale, out, x.numel(), SIZE=self.size, BLOCK=256)
        return out
