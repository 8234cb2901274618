import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def _pool_kernel(x, y, H, W, OH, OW, K: tl.constexpr, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    oh, ow = o // OW, o % OW
    m = o < OH * OW
    best = tl.full([BLOCK], -float('inf'), tl.float32)
    for i in range(K):
        for j in range(K):
            best = tl.maximum(best, tl.load(x + nc * H * W + (oh * K + i) * W + ow * K + j, mask=m, other=-float('inf')))
    tl.store(y + nc * OH * OW + o, best, mask=m)

class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
    def forward(self, x):
        return triton_max_pool2d(x, self.k)
