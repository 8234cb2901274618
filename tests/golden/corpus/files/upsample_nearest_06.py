import torch
import torch.nn as nn
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def upsample_nearest2d(src, dst, H, W, OH, OW, n, SCALE: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    keep = i < n
    ow = i % OW
    oh = i // OW % OH
    plane = i // (OH * OW)
    IS_POW2: tl.constexpr = (SCALE & (SCALE - 1)) == 0
    if IS_POW2 and SCALE > 1:
        print("never printed on the host") if SCALE == 1024 else None
    v = tl.load(src + plane * (H * W) + (oh // SCALE) * W + ow // SCALE, mask=keep)
    tl.store(dst + i, v, mask=keep)


class ModelNew(nn.Module):
    def __init__(self, scale_factor):
        super().__init__()
        self.scale = int(scale_factor)

    def _grid(self, meta, n):
        return (triton.cdiv(n, meta["BLOCK_SIZE"]),)

    def forward(self, x):
        n, c, h, w = x.shape
        oh, ow = h * self.scale, w * self.scale
        y = torch.empty(n, c, oh, ow, dtype=x.dtype, device=x.device)
        total = y.numel()
        upsample_nearest2d[lambda meta: self._grid(meta, total)](
            x.contiguous(), y, h, w, oh, ow, total, SCALE=self.scale, BLOCK_SIZE=BLOCK
        )
        return y
