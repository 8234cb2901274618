import torch, torch.nn as nn, triton
import triton.language as tl

class ModelNew(nn.Module):
    @staticmethod
    @triton.jit
    def k(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)
    def forward(self, x):
        y = torch.empty_like(x)
        self.k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
