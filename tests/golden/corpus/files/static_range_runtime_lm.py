import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def avg(x, y, L, OL, K, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(0, K):
        acc += tl.load(x + nc * L + o + k, mask=o < OL, other=0.0)
    tl.store(y + nc * OL + o, acc / K, mask=o < OL)

class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
    def forward(self, x):
        n, c, l = x.shape
        ol = l - self.k + 1
        y = x.new_empty((n, c, ol))
        avg[(n * c,)](x, y, l, ol, self.k, BLOCK=64)
        return y
