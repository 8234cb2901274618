import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def rnn_seq_kernel(
    x_ptr, w_ptr, h0_ptr, out_ptr,
    seq_len, batch,
    H: tl.constexpr,
    TILE: tl.constexpr,
):
    """Persistent kernel: each program owns a tile of the hidden state and keeps its slice of w in registers."""
    b = tl.program_id(0)
    tile = tl.program_id(1)
    j = tile * TILE + tl.arange(0, TILE)
    k = tl.arange(0, H)
    w = tl.load(w_ptr + j[:, None] * H + k[None, :])
    for t in range(seq_len):
        h = tl.load(h0_ptr + b * H + k)
        xt = tl.load(x_ptr + (t * batch + b) * H + j)
        rec = tl.sum(w * h[None, :], axis=1)
        hn = libdevice.tanh(xt + rec)
        tl.store(out_ptr + (t * batch + b) * H + j, hn)
        tl.store(h0_ptr + b * H + j, hn)
        tl.debug_barrier()


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.w_hh = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.2)

    def forward(self, x, h0):
        T, B, H = x.shape
        assert H == triton.next_power_of_2(H), "hidden size must be a power of two"
        out = torch.empty_like(x)
        state = h0.clone()
        rnn_seq_kernel[(B, H // 8)](x.contiguous(), self.w_hh.contiguous(), state, out, T, B, H=H, TILE=8)
        return out
