import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

kernel_src = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
constexpr int T = 32;
constexpr int ROWS = 8;
__global__ void transpose(const float* in, float* out, int R, int C) {
    // every thread reads back only what it wrote itself in the first loop below: no barrier needed there
    __shared__ float own[ROWS][T];
    own[threadIdx.y][threadIdx.x] = 0.f;
    own[threadIdx.y][threadIdx.x] += 1.f;
    __shared__ float tile[T][T + 1];
    int c = blockIdx.x * T + threadIdx.x;
    int r = blockIdx.y * T + threadIdx.y;
    for (int k = 0; k < T; k += ROWS)
        if (r + k < R && c < C) tile[threadIdx.y + k][threadIdx.x] = in[(r + k) * C + c];
    __syncthreads();
    c = blockIdx.y * T + threadIdx.x;
    r = blockIdx.x * T + threadIdx.y;
    for (int k = 0; k < T; k += ROWS)
        if (r + k < C && c < R) out[(r + k) * R + c] = tile[threadIdx.x][threadIdx.y + k];
}
torch::Tensor transpose_cuda(torch::Tensor x) {
    int R = x.size(0), C = x.size(1);
    auto y = torch::empty({C, R}, x.options());
    dim3 grid((C + T - 1) / T, (R + T - 1) / T), block(T, ROWS);
    transpose<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), R, C);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
mod = load_inline("transpose_mod", cpp_sources="torch::Tensor transpose_cuda(torch::Tensor x);", cuda_sources=kernel_src,
                  functions="transpose_cuda")


class ModelNew(nn.Module):
    def forward(self, x):
        return mod.transpose_cuda(x.contiguous())
