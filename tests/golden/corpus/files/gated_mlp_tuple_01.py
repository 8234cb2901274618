import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu_and_mul(x_ptr, y_ptr, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    HALF: tl.constexpr = D // 2
    offsets = (0, HALF)
    m = col < HALF
    gate = tl.load(x_ptr + row * D + offsets[0] + col, mask=m, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + row * D + offsets[1] + col, mask=m, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * HALF + col, (gate * tl.sigmoid(gate) * up).to(y_ptr.dtype.element_ty), mask=m)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        rows, D = x.shape
        out = torch.empty(rows, D // 2, device=x.device, dtype=x.dtype)
        silu_and_mul[rows, triton.cdiv(D // 2, 64)](x.contiguous(), out, D, 64)
        return out
