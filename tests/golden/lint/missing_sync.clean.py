import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void scale(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float left = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0.0f;
    if (i < n) y[i] = left;
}

torch::Tensor run(torch::Tensor x) {
    auto out = torch::empty_like(x);
    int n = x.numel();
    int blocks = (n + 255) / 256;
    scale<<<blocks, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
extension = load_inline(name="ext", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source, functions=["run"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
