import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def maxk(x, o, N, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for s in tl.range(0, N, BLOCK, num_stages=2):
        c = s + tl.arange(0, BLOCK)
        best = tl.maximum(best, tl.load(x + r * N + c, mask=c < N, other=float("-inf")))
    tl.store(o + r, tl.max(best, axis=0))

class ModelNew(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim
    def forward(self, x):
        x = x.movedim(self.dim, -1).contiguous()
        N = x.shape[-1]
        o = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        BLOCK = min(1024, triton.next_power_of_2(N))
        maxk[(o.numel(),)](x, o, N, BLOCK=BLOCK, num_warps=min(max(BLOCK // 256, 1), 8))
        return o
