import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(x_ptr, out_ptr, C, S, eps, BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    b = tl.program_id(0)
    s = tl.program_id(1) * BLOCK_S + tl.arange(0, BLOCK_S)[None, :]
    c = tl.arange(0, BLOCK_C)[:, None]
    mask = (c < C) and (s < S)
    p = b * C * S + c * S + s
    x = tl.load(x_ptr + p, mask=mask, other=0.0)
    ms = tl.sum(x * x, axis=0) / C
    inv = 1 / tl.sqrt(ms + eps)
    tl.store(out_ptr + p, x * inv[None, :], mask=mask)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5):
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, C = x.shape[0], x.shape[1]
        x = x.contiguous()
        S = x[0, 0].numel()
        out = torch.empty_like(x)
        BLOCK_C = 64
        grid = (B, (S + 31) // 24)
        rms_norm_kernel[grid](x, out, C, S, self.eps, BLOCK_C=BLOCK_C, BLOCK_S=24)
        return out
