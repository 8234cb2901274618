import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>

__inline__ __device__ float block_sum(float v) {
    __shared__ float shared[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (lane == 0) shared[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? shared[lane] : 0.0f;
    if (warp == 0)
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}

__global__ void rms_norm_kernel(const float* x, const float* w, float* y, int cols, float eps) {
    const float* row = x + (int64_t)blockIdx.x * cols;
    float* out = y + (int64_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c] * row[c];
    sum = block_sum(sum);
    __shared__ float scale;
    if (threadIdx.x == 0) scale = rsqrtf(sum / cols + eps);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = row[c] * scale * w[c];
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor w, double eps) {
    auto y = torch::empty_like(x);
    int cols = x.size(-1);
    int rows = x.numel() / cols;
    rms_norm_kernel<<<rows, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), cols, static_cast<float>(eps));
    AT_CUDA_CHECK(cudaGetLastError());
    return y;
}
"""

rms = load_inline(name="rms_ext", cpp_sources="torch::Tensor rms_norm(torch::Tensor x, torch::Tensor w, double eps);",
                  cuda_sources=source, functions=["rms_norm"])


class ModelNew(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return rms.rms_norm(x.contiguous(), self.weight, self.eps)
