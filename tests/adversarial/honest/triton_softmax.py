"""A row softmax in Triton, one program per row, the tail of the row masked. Must pass."""
# hone-test: task = tests/adversarial/tasks/few_rows.py
# hone-test: target = triton
# hone-test: timeout = 30
# hone-test: expect = correct
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + offsets, powers / tl.sum(powers, axis=0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, columns = x.shape
        softmax_rows[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y
