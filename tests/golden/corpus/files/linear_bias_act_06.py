import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def act_kernel(x, y, n, ACT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if ACT == "relu":
        v = tl.maximum(v, 0.0)
    tl.store(y + i, v, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, act):
        super().__init__()
        lin = nn.Linear(in_features, out_features)
        self.weight, self.bias = lin.weight, lin.bias
        self.act = act

    def forward(self, x):
        z = nn.functional.linear(x, self.weight, self.bias)
        y = torch.empty_like(z)
        act_kernel[(triton.cdiv(z.numel(), 256),)](z, y, z.numel(), ACT=self.act, BLOCK=256)
        return y
