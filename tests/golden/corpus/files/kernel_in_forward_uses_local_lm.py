import torch, torch.nn as nn, triton
import triton.language as tl

class ModelNew(nn.Module):
    def forward(self, x):
        n_cols = x.shape[1]
        @triton.jit
        def k(xp, yp, BLOCK: tl.constexpr):
            r = tl.program_id(0)
            i = tl.arange(0, BLOCK)
            v = tl.load(xp + r * n_cols + i, mask=i < n_cols, other=0.0)
            tl.store(yp + r, tl.sum(v, axis=0))
        y = torch.empty(x.shape[0], device=x.device)
        k[(x.shape[0],)](x, y, BLOCK=triton.next_power_of_2(n_cols))
        return y
