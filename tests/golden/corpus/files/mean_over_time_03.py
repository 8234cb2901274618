import torch
import torch.nn as nn
import triton
import triton.language as tl


def cdiv(a, b):
    return (a + b - 1) // b


@triton.autotune(
    configs=[
        triton.Config(kwargs=dict(BT=8, BF=32), num_warps=2),

    ],
    key=["T", "F"],
)
@triton.jit
def mean_time(x_ptr, y_ptr, T, F, BT: tl.constexpr, BF: tl.constexpr):
    b = tl.program_id(0)
    f = tl.program_id(1) * BF + tl.arange(0, BF)
    acc = tl.zeros((BT, BF), tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + tl.arange(0, BT)
        acc += tl.load(x_ptr + b * T * F + t[:, None] * F + f[None, :], mask=(t[:, None] < T) & (f[None, :] < F), other=0.0)
    tl.store(y_ptr + b * F + f, tl.sum(acc, 0) / T, mask=f < F)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        B, T, F = x.shape
        y = torch.empty((B, F), device=x.device, dtype=x.dtype)
        mean_time[lambda META: (B, cdiv(F, META["BF"]))](x.contiguous(), y, T, F, BF=32)
        return y
