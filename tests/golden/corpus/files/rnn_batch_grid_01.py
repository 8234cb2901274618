import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rnn_rows(x_ptr, w_ptr, buf_ptr, out_ptr, T, B, H, BLOCK_H: tl.constexpr):
    # grid = (batch,), each program walks over all hidden units one by one
    b = tl.program_id(0)
    k = tl.arange(0, BLOCK_H)
    km = k < H
    h = tl.zeros((BLOCK_H,), dtype=tl.float32)
    for t in range(T):
        new = tl.zeros((BLOCK_H,), dtype=tl.float32)
        for j in range(H):
            w = tl.load(w_ptr + j * H + k, mask=km, other=0.0)
            pre = tl.load(x_ptr + (t * B + b) * H + j) + tl.sum(w * h, axis=0)
            new = tl.where(k == j, tl.sigmoid(pre), new)
        h = new
        tl.store(out_ptr + (t * B + b) * H + k, h, mask=km)


class ModelNew(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.w = nn.Parameter(torch.randn(hidden, hidden) * 0.3)

    def forward(self, x):
        T, B, H = x.shape
        out = torch.empty_like(x)
        rnn_rows[(B,)](x.contiguous(), self.w, out, out, T, B, H, BLOCK_H=triton.next_power_of_2(H))
        return out
