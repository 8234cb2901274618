import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_src = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__device__ float block_sum(float v, float* scratch) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if (lane == 0) scratch[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = (lane < (blockDim.x >> 5)) ? scratch[lane] : 0.f;
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
        if (lane == 0) scratch[0] = v;
    }
    __syncthreads();
    float total = scratch[0];
    __syncthreads();
    return total;
}

__global__ void layer_norm(const float* x, const float* w, const float* b, float* y, int n, float eps) {
    extern __shared__ float scratch[];
    const float* xr = x + blockIdx.x * n;
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += xr[i];
    float mean = block_sum(s, scratch) / n;
    float q = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { float d = xr[i] - mean; q += d * d; }
    float rstd = rsqrtf(block_sum(q, scratch) / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = (xr[i] - mean) * rstd * w[i] + b[i];
}

torch::Tensor layer_norm_cuda(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {
    int n = w.numel();
    int rows = x.numel() / n;
    auto y = torch::empty_like(x);
    layer_norm<<<rows, 128, 32 * sizeof(float)>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(),
                                                  y.data_ptr<float>(), n, (float)eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
cpp_src = "torch::Tensor layer_norm_cuda(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps);"
ln = load_inline(name="ln_ext", cpp_sources=cpp_src, cuda_sources=cuda_src, functions=["layer_norm_cuda"])


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return ln.layer_norm_cuda(x.contiguous(), self.weight, self.bias, 1e-5)
