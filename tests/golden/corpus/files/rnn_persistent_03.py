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
):
    tile = tl.program_id(0)
    j = tile * 8 + tl.arange(0, 8)
    k = tl.arange(0, H)
    w = tl.load(w_ptr + j[:, None] * H + k[None, :])
    for t in range(seq_len):
        for b in range(batch):
            if t == 0:
                h = tl.load(h0_ptr + b * H + k)
            else:
                # previous step, written by all the programs
                h = tl.load(out_ptr + ((t - 1) * batch + b) * H + k)
            xt = tl.load(x_ptr + (t * batch + b) * H + j)
            hn = libdevice.tanh(xt + tl.sum(w * h[None, :], axis=1))
            tl.store(out_ptr + (t * batch + b) * H + j, hn)


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.w_hh = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.2)

    def forward(self, x, h0):
        T, B, H = x.shape
        assert H == triton.next_power_of_2(H), "hidden size must be a power of two"
        out = torch.empty_like(x)
        rnn_seq_kernel[(H // 8,)](x.contiguous(), self.w_hh.contiguous(), h0.contiguous(), out, T, B, H=H)
        return out
