import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def every(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(pointer=x + i, mask=m, other=0.0, cache_modifier='.ca', eviction_policy='evict_first', volatile=False)
    w = tl.reshape(v, BLOCK // 4, 4)
    t = tl.sum(input=w, axis=1, keep_dims=True)
    w = w + tl.broadcast_to(t, BLOCK // 4, 4) + tl.zeros([BLOCK // 4, 4], tl.float32)
    u = w.reshape(BLOCK, can_reorder=False)
    u = tl.where(condition=m, x=u, y=0.0)
    u = tl.clamp(u, min=0.0, max=6.0).to(dtype=tl.float32, bitcast=False)
    for s in tl.range(0, 2, num_stages=2, loop_unroll_factor=1):
        u += tl.full(shape=(BLOCK,), value=1.0, dtype=tl.float32)
    tl.static_print('block', BLOCK, sep=' ')
    tl.store(pointer=o + i, value=u, mask=m, eviction_policy='')

class ModelNew(nn.Module):
    def forward(self, x):
        o = torch.empty_like(x)
        every[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
