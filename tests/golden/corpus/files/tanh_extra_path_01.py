import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.extra.cuda.libdevice.tanh(x)
    tl.store(y_ptr + offs, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)
        tanh_kernel[grid](x, y, n, BLOCK_SIZE=256)
        return y


def get_inputs():
    return [torch.randn(16, 16384, device="cuda")]


def get_init_inputs():
    return []


if __name__ == "__main__":
    model = ModelNew().cuda()
    for t in get_inputs():
        if t.numel() == 0:
            continue
        print(model(t).shape)
        break
