import torch, triton
import torch.nn as nn
import triton.language as tl


@triton.jit
def argmax_rows(x, out, n_cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n_cols + c, mask=c < n_cols, other=float("-inf"))
    best = tl.argmax(v, axis=0)
    tl.store(out + r, tl.astype(best, tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        argmax_rows[(rows, )](x.contiguous(), out, cols, BLOCK=triton.next_power_of_2(cols))
        return out
