"""The product by the library, bias and ReLU in one elementwise Triton kernel. Must pass."""
# hone-test: task = tests/adversarial/tasks/few_tiles.py
# hone-test: target = triton
# hone-test: timeout = 30
# hone-test: expect = correct
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bias_relu(y, bias, total, columns, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < total
    values = tl.load(y + offsets, mask=inside) + tl.load(bias + offsets % columns, mask=inside)
    tl.store(y + offsets, tl.maximum(values, 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        y = torch.mm(x, self.linear.weight.t())
        bias_relu[(triton.cdiv(y.numel(), 1024),)](y, self.linear.bias, y.numel(), y.shape[1], BLOCK=1024)
        return y
