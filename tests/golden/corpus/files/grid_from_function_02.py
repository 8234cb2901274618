import torch
import torch.nn as nn
import triton
import triton.language as tl

_CACHE = {}


WARP = 32
ROWS_PER_WARP = 3
TILE_ELEMS = WARP * ROWS_PER_WARP


def pick_block(n):
    return TILE_ELEMS


def make_grid(n, block):
    return (max(1, triton.cdiv(n, block)), 1, 1)


@triton.jit
def scale(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + o, tl.load(x_ptr + o, o < n) * s, o < n)


class ModelNew(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = float(s)

    def forward(self, x):
        n = x.numel()
        block = _CACHE.setdefault(n, pick_block(n))
        y = torch.empty_like(x)
        grid = make_grid(n, block)
        scale[grid](x, y, n, self.s, BLOCK=block)
        return y
