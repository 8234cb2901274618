import torch, torch.nn as nn, triton
import triton.language as tl

class ModelNew(nn.Module):
    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.fc = nn.Linear(512, 1000)
        self.n = 1000

    def forward(self, x):
        x = self.fc(x)
        y = torch.empty_like(x)
        row_softmax[(x.shape[0],)](x, y, self.n)
        return y

@triton.jit
def row_softmax(x, y, N: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, N)
    v = tl.load(x + r * N + c)
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + r * N + c, v / tl.sum(v, axis=0))
