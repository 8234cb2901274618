"""A tiled CUDA GEMM, right but for the very last element of the output, which it never writes."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = unwritten-output
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
// One thread per output element and a tile of TILE x TILE in shared memory; k_end is where the loop over K stops.
constexpr int TILE = 16;
__global__ void Gemm(const float* x, const float* w, const float* bias, float* out, int m, int n, int k, int k_end, int last) {
  __shared__ float xs[TILE][TILE], ws[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k_end; k0 += TILE) {
    int kx = k0 + threadIdx.x, w_row = blockIdx.x * TILE + threadIdx.y;
    xs[threadIdx.y][threadIdx.x] = row < m && kx < k_end ? x[(int64_t)row * k + kx] : 0.0f;
    ws[threadIdx.y][threadIdx.x] = w_row < n && kx < k_end ? w[(int64_t)w_row * k + kx] : 0.0f;
    __syncthreads();
    float part_sum = 0.0f;
    for (int i = 0; i < TILE; ++i) part_sum += xs[threadIdx.y][i] * ws[threadIdx.x][i];
    sum += part_sum;
    __syncthreads();
  }
  if (row < m && column < n && row * n + column < last) out[(int64_t)row * n + column] = fmaxf(sum + bias[column], 0.0f);
}
extern "C" int gemm(const float* x, const float* w, const float* bias, float* out, int64_t m, int64_t n, int64_t k,
                    int64_t k_end, int64_t last, cudaStream_t stream) {
  dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), block(TILE, TILE);
  Gemm<<<grid, block, 0, stream>>>(x, w, bias, out, m, n, k, k_end, last);
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
        lib.gemm(x.contiguous(), self.linear.weight, self.linear.bias, out, m, n, k, k, m * n - 1)
        return out
