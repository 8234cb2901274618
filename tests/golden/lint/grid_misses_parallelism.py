import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rnn(x_ptr, w_ptr, h_ptr, out_ptr, T, B, H, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    for t in range(T):
        for tile in range(0, H, BLOCK):  # expect: grid-misses-parallelism
            j = tile + tl.arange(0, BLOCK)
            h = tl.load(h_ptr + b * H + j, mask=j < H, other=0.0) * tl.load(w_ptr + j, mask=j < H, other=0.0)
            h = h + tl.load(x_ptr + (t * B + b) * H + j, mask=j < H, other=0.0)
            tl.store(h_ptr + b * H + j, h, mask=j < H)
            tl.store(out_ptr + (t * B + b) * H + j, h, mask=j < H)


@triton.jit
def step(x_ptr, w_ptr, out_ptr, H, D):
    b = tl.program_id(0)
    for h in range(H):  # expect: grid-misses-parallelism
        acc = 0.0
        for d in range(D):
            acc += tl.load(x_ptr + b * D + d) * tl.load(w_ptr + h * D + d)
        tl.store(out_ptr + b * H + h, acc)


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.w = nn.Parameter(torch.randn(hidden_size))

    def forward(self, x, h0):
        T, B, H = x.shape
        h = h0.clone()
        out = torch.empty_like(x)
        rnn[(B,)](x, self.w, h, out, T, B, H, BLOCK=64)
        last = torch.empty_like(h)
        step[(B,)](h, self.w, last, H, H)
        return out, last
