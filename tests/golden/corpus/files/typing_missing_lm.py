import torch, triton
import torch.nn as nn
import triton.language as tl

@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)

def apply(x: torch.Tensor, out: Optional[torch.Tensor] = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    k[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), 64)
    return out

class ModelNew(nn.Module):
    def forward(self, x):
        return apply(x)
