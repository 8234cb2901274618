import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_src = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void add_kernel(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

__global__ void mul_kernel(const float* a, float s, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * s;
}

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    auto out = torch::empty_like(a);
    int n = a.numel();
    add_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

torch::Tensor mul(torch::Tensor a, double s) {
    auto out = torch::empty_like(a);
    int n = a.numel();
    mul_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), static_cast<float>(s), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

cpp_src = """
torch::Tensor add(torch::Tensor a, torch::Tensor b);
torch::Tensor mul(torch::Tensor a, double s);
"""

ops = load_inline(name="addmul", cpp_sources=cpp_src, cuda_sources=cuda_src, functions=["add", "mul"])


class ModelNew(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.ops = ops

    def forward(self, a, b):
        return self.ops.mul(self.ops.add(a.contiguous(), b.contiguous()), self.s)
