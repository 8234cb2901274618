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
    """One program owns one batch row for the whole sequence: no exchange between programs, no barrier needed."""
    b = tl.program_id(0)
    j = tl.arange(0, H)
    k = tl.arange(0, H)
    # w[j, k] stays in registers
    w = tl.load(w_ptr + j[:, None] * H + k[None, :])
    h = tl.load(h0_ptr + b * H + j)
    for t in range(seq_len):
        if b >= batch:
            return
        xt = tl.load(x_ptr + (t * batch + b) * H + j)
        rec = tl.sum(w * h[None, :], axis=1)
        h = libdevice.tanh(xt + rec)
        tl.store(out_ptr + (t * batch + b) * H + j, h)


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.w_hh = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.2)

    def forward(self, x, h0):
        T, B, H = x.shape
        assert H == triton.next_power_of_2(H), "hidden size must be a power of two"
        out = torch.empty_like(x)
        rnn_seq_kernel[(B,)](x.contiguous(), self.w_hh.contiguous(), h0.contiguous(), out, T, B, H=H)
        return out
