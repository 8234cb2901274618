import torch
import torch.nn as nn
import triton
import triton.language as lang


@triton.jit
def layer_norm_fwd(X, Y, W, B, stride, N, eps, BLOCK_N: lang.constexpr):
    row = lang.program_id(0)
    X += row * stride
    Y += row * stride
    # mean
    mean_acc = lang.zeros([BLOCK_N], dtype=lang.float32)
    for off in range(0, N, BLOCK_N):
        cols = off + lang.arange(0, BLOCK_N)
        a = lang.load(X + cols, mask=cols < N, other=0.0).to(lang.float32)
        mean_acc += a
    mean = lang.sum(mean_acc, axis=0) / N
    # second pass; never use `lang.any` or `lang.tanh` here, and no `return` in loops
    var_acc = lang.zeros([BLOCK_N], dtype=lang.float32)
    for off in range(0, N, BLOCK_N):
        cols = off + lang.arange(0, BLOCK_N)
        a = lang.load(X + cols, mask=cols < N, other=0.0).to(lang.float32)
        d = lang.where(cols < N, a - mean, 0.0)
        var_acc += d * d
    rstd = 1.0 / lang.sqrt(lang.sum(var_acc, axis=0) / N + eps)
    for off in range(0, N, BLOCK_N):
        cols = off + lang.arange(0, BLOCK_N)
        m = cols < N
        w = lang.load(W + cols, mask=m)
        b = lang.load(B + cols, mask=m)
        x = lang.load(X + cols, mask=m, other=0.0).to(lang.float32)
        lang.store(Y + cols, (x - mean) * rstd * w + b, mask=m)


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
        args = (x2, y, self.weight, self.bias, x2.stride(0), self.N, self.eps)
        layer_norm_fwd[(rows,)](*args, BLOCK_N=block, num_warps=4)
        return y.view(shape)
