import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather_rows(idx_ptr, table_ptr, out_ptr, D, BLOCK_D: tl.constexpr):
    i = tl.program_id(0)
    row = tl.load(idx_ptr + i)
    d = tl.arange(0, BLOCK_D)
    keep = d < D
    val = tl.load(table_ptr + row * D + d, mask=keep)
    tl.store(out_ptr + i * D + d, val, mask=keep)


class ModelNew(nn.Module):
    def __init__(self, num, dim):
        super().__init__()
        self.table = nn.Parameter(torch.randn(num, dim))

    def forward(self, idx):
        D = self.table.shape[1]
        out = torch.empty(*idx.shape, D, device=idx.device, dtype=self.table.dtype)
        flat = idx.reshape(-1)
        grid = (flat.numel(),)
        gather_rows[grid](flat, self.table, out, D, BLOCK_D=triton.next_power_of_2(D))
        return out
