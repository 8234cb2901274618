import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor run(torch::Tensor x) {
    auto out = torch::empty_like(x);
    int n = x.numel();
    int blocks = (n + 255) / 256;
    scale<<<blocks, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);  // expect: unchecked-launch
    return out;
}
"""
extension = load_inline(name="ext", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source, functions=["run"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
