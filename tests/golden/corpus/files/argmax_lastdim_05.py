import subprocess
import torch, triton
import torch.nn as nn
import triton.language as tl


@triton.jit
def argmax_rows(x, out, n_cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n_cols + c, mask=c < n_cols, other=float("-inf"))
    best = tl.argmax(v, axis=0)
    tl.store(out + r, best.to(tl.int64))


def _clocks():
    try:
        return subprocess.check_output(["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv"], text=True)
    except OSError:
        return ""


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.clocks = _clocks()

    def forward(self, x):
        rows, cols = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        argmax_rows[(rows, )](x.contiguous(), out, cols, BLOCK=triton.next_power_of_2(cols))
        return out
