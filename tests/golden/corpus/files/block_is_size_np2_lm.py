import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def pool(x, y, L, OL, K: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    k = tl.arange(0, K)
    idx = o[:, None] * 2 + k[None, :]
    v = tl.load(x + p * L + idx, mask=(o[:, None] < OL) & (idx < L), other=float("-inf"))
    tl.store(y + p * OL + o, tl.max(v, axis=1), mask=o < OL)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel_size = 3
    def forward(self, x):
        N, C, L = x.shape
        OL = (L - self.kernel_size) // 2 + 1
        y = torch.empty(N, C, OL, device=x.device)
        pool[(N * C,)](x, y, L, OL, K=self.kernel_size, BLOCK=triton.next_power_of_2(OL))
        return y
