import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layer_norm_fwd(X, Y, W, B, stride, N, eps, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    # mean
    mean_acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)
        a = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        mean_acc += a
    mean = tl.sum(mean_acc, axis=0) / N
    # variance
    var_acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)
        a = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        d = tl.where(cols < N, a - mean, 0.0)
        var_acc += d ** 2
    rstd = 1.0 / tl.sqrt(tl.sum(var_acc, axis=0) / N + eps)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)
        m = cols < N
        w = tl.load(W + cols, mask=m)
        b = tl.load(B + cols, mask=m)
        x = tl.load(X + cols, mask=m, other=0.0).to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=m)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.N = normalized_shape
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))

    def forward(self, x):
        shape = x.shape
        x2 = x.contiguous().view(-1, self.N)
        y = torch.empty_like(x2)
        rows = x2.shape[0]
        block = min(1024, triton.next_power_of_2(self.N))
        layer_norm_fwd[(rows,)](x2, y, self.weight, self.bias, x2.stride(0), self.N, self.eps, BLOCK_N=block)
        return y.view(shape)
