import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def grid_barrier(counter_ptr, target):
    # everybody's stores first, then count in; leave when all programs of this round have arrived
    tl.debug_barrier()
    tl.atomic_add(counter_ptr, 1, sem="acq_rel", scope="gpu")
    seen = tl.atomic_add(counter_ptr, 0, sem="acquire", scope="gpu")
    while seen < target:
        seen = tl.atomic_add(counter_ptr, 0, sem="acquire", scope="gpu")
    tl.debug_barrier()


@triton.jit
def rnn_tiles(x_ptr, w_ptr, state_ptr, out_ptr, counter_ptr, T, B, H: tl.constexpr, TILE: tl.constexpr):
    tile = tl.program_id(0)
    progs = tl.num_programs(0)
    j = tile * TILE + tl.arange(0, TILE)
    k = tl.arange(0, H)
    w = tl.load(w_ptr + j[:, None] * H + k[None, :])
    for t in range(T):
        src = state_ptr + (t % 2) * B * H
        dst = state_ptr + ((t + 1) % 2) * B * H
        for b in range(B):
            h = tl.load(src + b * H + k, cache_modifier=".cg")
            xt = tl.load(x_ptr + (t * B + b) * H + j)
            hn = libdevice.tanh(xt + tl.sum(w * h[None, :], axis=1))
            tl.store(dst + b * H + j, hn, cache_modifier=".cg")
            tl.store(out_ptr + (t * B + b) * H + j, hn)
        grid_barrier(counter_ptr, (t + 1) * progs)


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.w_hh = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.1)

    def forward(self, x, h0):
        T, B, H = x.shape
        out = torch.empty_like(x)
        state = torch.stack((h0, h0)).contiguous()
        counter = torch.zeros(1, dtype=torch.int32, device=x.device)
        rnn_tiles[(H // 16,)](
            x.contiguous(), self.w_hh, state, out, counter, T, B, H=H, TILE=16,
            launch_cooperative_grid=True,
        )
        return out
