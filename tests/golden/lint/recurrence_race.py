import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rnn_step(x_ptr, w_ptr, h_ptr, out_ptr, T, B, H: tl.constexpr, TILE: tl.constexpr):
    rows = tl.program_id(0) * 16 + tl.arange(0, 16)
    k = tl.arange(0, H)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    for t in range(T):
        h = tl.load(h_ptr + rows[:, None] * H + k[None, :], mask=rows[:, None] < B, other=0.0)
        w = tl.load(w_ptr + k[:, None] * H + j[None, :], mask=j[None, :] < H, other=0.0)
        x = tl.load(x_ptr + (t * B + rows)[:, None] * H + j[None, :], mask=rows[:, None] < B, other=0.0)
        new = 1.0 / (1.0 + tl.exp(-(x + tl.dot(h, w, input_precision="ieee"))))
        tl.store(h_ptr + rows[:, None] * H + j[None, :], new, mask=rows[:, None] < B)  # expect: recurrence-race
        tl.store(out_ptr + (t * B + rows)[:, None] * H + j[None, :], new, mask=rows[:, None] < B)


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.w = nn.Parameter(torch.randn(hidden_size, hidden_size))

    def forward(self, x, h0):
        T, B, H = x.shape
        out = torch.empty_like(x)
        state = h0.clone()
        rnn_step[(triton.cdiv(B, 16), triton.cdiv(H, 32))](x, self.w, state, out, T, B, H=64, TILE=32)
        return out
