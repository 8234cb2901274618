import torch, torch.nn as nn, triton
import triton.language as tl

@triton.heuristics(values={
    "BLOCK_N": lambda args: triton.next_power_of_2(args["N"]),
    "EVEN": lambda args: args["N"] % 32 == 0,
})
@triton.jit
def rms(x_ptr, w_ptr, y_ptr, N, eps, BLOCK_N: tl.constexpr, EVEN: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK_N)
    if EVEN:
        x = tl.load(x_ptr + r * N + c, mask=c < N, other=0.0)
    else:
        x = tl.load(x_ptr + r * N + c, mask=c < N, other=0.0)
    ms = tl.sum(x * x, 0) / N
    y = x * tl.math.rsqrt(ms + eps) * tl.load(w_ptr + c, mask=c < N)
    tl.store(y_ptr + r * N + c, y, mask=c < N)

class ModelNew(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps
    def forward(self, x):
        y = torch.empty_like(x)
        rms[(x.shape[0],)](x, self.weight, y, x.shape[1], self.eps)
        return y
