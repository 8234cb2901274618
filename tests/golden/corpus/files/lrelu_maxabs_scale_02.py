import torch
import torch.nn as nn
import triton
import triton.language as tl

NUM_SMS = None
SLOPE = 0.01


@triton.jit
def absmax_partial(x, part, n, BLOCK: tl.constexpr):
    # grid-stride loop
    pid = tl.program_id(0)
    step = tl.num_programs(0) * BLOCK
    best = tl.zeros((BLOCK,), tl.float32)
    for start in range(pid * BLOCK, n, step):
        o = start + tl.arange(0, BLOCK)
        best = tl.maximum(best, tl.abs(tl.load(x + o, mask=o < n, other=0.0)))
    tl.store(part + pid, tl.max(best, axis=0))


@triton.jit
def scale_kernel(x, part, y, n, P: tl.constexpr, PB: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.arange(0, PB)
    s = tl.max(tl.load(part + p, mask=p < P, other=0.0), axis=0)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n)
    v = tl.where(v >= 0, v, SLOPE * v)
    tl.store(y + o, v / s, mask=o < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        global NUM_SMS
        if NUM_SMS is None:
            NUM_SMS = torch.cuda.get_device_properties(0).multi_processor_count
        n = x.numel()
        programs = min(NUM_SMS, triton.cdiv(n, 256))
        part = torch.empty(programs, device=x.device, dtype=torch.float32)
        y = torch.empty_like(x)
        absmax_partial[(programs,)](x, part, n, BLOCK=256)
        scale_kernel[(triton.cdiv(n, 256),)](x, part, y, n, P=programs, PB=triton.next_power_of_2(programs), BLOCK=256)
        return y
