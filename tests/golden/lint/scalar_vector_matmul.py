import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def matvec(a_ptr, b_ptr, c_ptr, K, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(K):
        acc += tl.load(a_ptr + row * K + k) * tl.load(b_ptr + k * N + cols, mask=cols < N, other=0.0)  # expect: scalar-vector-matmul
    tl.store(c_ptr + row * N + cols, acc, mask=cols < N)


class ModelNew(nn.Module):
    def forward(self, a, b):
        M, K = a.shape
        N = b.shape[1]
        c = torch.empty((M, N), device=a.device, dtype=a.dtype)
        matvec[(M, triton.cdiv(N, 64))](a, b, c, K, N, BLOCK=64)
        return c
