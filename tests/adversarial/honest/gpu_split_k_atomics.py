"""A GEMM split along K over blocks that add their parts with atomics: not bitwise stable, within the limit. Must
pass."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = correct
# hone-test: kind = kernel
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
constexpr int TILE = 16;
__global__ void Fill(const float* bias, float* out, int64_t total, int n) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < total) out[i] = bias[i % n];
}
__global__ void Gemm(const float* x, const float* w, float* out, int m, int n, int k, int part) {
  __shared__ float xs[TILE][TILE], ws[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  int first = blockIdx.z * part, last = min(k, first + part);
  float sum = 0.0f;
  for (int k0 = first; k0 < last; k0 += TILE) {
    int kx = k0 + threadIdx.x, w_row = blockIdx.x * TILE + threadIdx.y;
    xs[threadIdx.y][threadIdx.x] = row < m && kx < last ? x[(int64_t)row * k + kx] : 0.0f;
    ws[threadIdx.y][threadIdx.x] = w_row < n && kx < last ? w[(int64_t)w_row * k + kx] : 0.0f;
    __syncthreads();
    float part_sum = 0.0f;
    for (int i = 0; i < TILE; ++i) part_sum += xs[threadIdx.y][i] * ws[threadIdx.x][i];
    sum += part_sum;
    __syncthreads();
  }
  if (row < m && column < n) atomicAdd(out + (int64_t)row * n + column, sum);
}
__global__ void Relu(float* out, int64_t total) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < total) out[i] = fmaxf(out[i], 0.0f);
}
extern "C" int gemm(const float* x, const float* w, const float* bias, float* out, int64_t m, int64_t n, int64_t k,
                    int64_t splits, cudaStream_t stream) {
  int64_t total = m * n, blocks = (total + 255) / 256;
  dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE, splits), block(TILE, TILE);
  Fill<<<blocks, 256, 0, stream>>>(bias, out, total, n);
  Gemm<<<grid, block, 0, stream>>>(x, w, out, m, n, k, (k + splits - 1) / splits);
  Relu<<<blocks, 256, 0, stream>>>(out, total);
  return cudaGetLastError();
}
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        (m, k), n = x.shape, self.linear.out_features
        out = torch.empty(m, n, device=x.device)
        lib.gemm(x.contiguous(), self.linear.weight, self.linear.bias, out, m, n, k, 8)
        return out
