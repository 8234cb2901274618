import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def _instnorm(x, y, HW, eps, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < HW
    v = tl.load(x + p * HW + c, mask=m, other=0.0)
    mu = tl.sum(v, axis=0) / HW
    d = tl.where(m, v - mu, 0.0)
    var = tl.sum(d * d, axis=0) / HW
    tl.store(y + p * HW + c, d / tl.sqrt(var + eps), mask=m)

class ModelNew(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.inorm = nn.InstanceNorm2d(num_features)
        self.kernel = _instnorm
    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        self.kernel[(N * C,)](x, y, H * W, BLOCK=triton.next_power_of_2(H * W))
        return y
