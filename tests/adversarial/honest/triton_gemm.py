"""A tiled GEMM with bias and ReLU in Triton, in full float32. Must pass, whatever its speed."""
# hone-test: task = tests/adversarial/tasks/few_tiles.py
# hone-test: target = triton
# hone-test: timeout = 30
# hone-test: expect = correct
# hone-test: kind = kernel
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gemm(x, w, bias, out, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + ks
        a = tl.load(x + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(w + columns[None, :] * K + k[:, None], mask=(columns[None, :] < N) & (k[:, None] < K), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    total += tl.load(bias + columns, mask=columns < N, other=0.0)[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out + rows[:, None] * N + columns[None, :], tl.maximum(total, 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        x = x.contiguous()
        (m, k), n = x.shape, self.linear.out_features
        out = torch.empty(m, n, device=x.device)
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        gemm[grid](x, self.linear.weight, self.linear.bias, out, m, n, k, BM=64, BN=64, BK=32)
        return out
