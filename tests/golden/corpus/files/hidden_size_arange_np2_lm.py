import torch, torch.nn as nn, triton
import triton.language as tl

@triton.jit
def rnn_step(x, h, w, out, H: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    offs = tl.arange(0, H)
    acc = tl.zeros((H,), dtype=tl.float32)
    for d in range(D):
        acc += tl.load(x + b * D + d) * tl.load(w + offs * D + d)
    hv = tl.load(h + b * H + offs)
    z = acc + hv
    e = tl.exp(-2.0 * z)
    tl.store(out + b * H + offs, (1 - e) / (1 + e))

class ModelNew(nn.Module):
    def __init__(self, input_size=64, hidden_size=96):
        super().__init__()
        self.hidden_size = hidden_size
        self.input_size = input_size
        self.i2h = nn.Linear(input_size, hidden_size)
    def forward(self, x, h):
        out = torch.empty_like(h)
        rnn_step[(x.shape[0],)](x, h, self.i2h.weight, out, self.hidden_size, self.input_size)
        return out
