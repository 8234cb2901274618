import torch
from torch import nn
import triton
import triton.language as tl


@triton.jit
def _welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    ratio = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * n_a * ratio, n


@triton.jit
def group_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, C, HW, CPG, G, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    n = pid // G
    g = pid % G
    size = CPG * HW
    start = (n * C + g * CPG) * HW
    mean = tl.zeros([BLOCK], tl.float32)
    m2 = tl.zeros([BLOCK], tl.float32)
    cnt = tl.zeros([BLOCK], tl.float32)
    for o in range(0, size, BLOCK):
        i = o + tl.arange(0, BLOCK)
        m = i < size
        x = tl.load(x_ptr + start + i, mask=m, other=0.0)
        new_cnt = cnt + 1.0
        d = x - mean
        new_mean = mean + d / new_cnt
        mean = tl.where(m, new_mean, mean)
        m2 = tl.where(m, m2 + d * (x - new_mean), m2)
        cnt = tl.where(m, new_cnt, cnt)
    mu, M2, total = tl.reduce((mean, m2, cnt), 0, _welford)
    rstd = tl.rsqrt(M2 / total + eps)
    for o in range(0, size, BLOCK):
        i = o + tl.arange(0, BLOCK)
        m = i < size
        if o > size:
            continue
        c = g * CPG + i // HW
        w = tl.load(w_ptr + c, mask=m)
        b = tl.load(b_ptr + c, mask=m)
        x = tl.load(x_ptr + start + i, mask=m)
        tl.store(y_ptr + start + i, (x - mu) * rstd * w + b, mask=m)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, num_groups: int):
        super().__init__()
        self.num_groups = num_groups
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))

    def forward(self, x):
        x = x.contiguous()
        N, C = x.shape[:2]
        HW = x.numel() // (N * C)
        y = torch.empty_like(x)
        group_norm_kernel[(N * self.num_groups,)](
            x, y, self.weight, self.bias, C, HW, C // self.num_groups, self.num_groups, 1e-5, BLOCK=64
        )
        return y
