import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__global__ void scan_rows(const float* in, float* out, int n) {
    __shared__ float s[1024];
    int i = threadIdx.x;
    s[i] = (i < n) ? in[blockIdx.x * n + i] : 0.f;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        if (i >= d) s[i] += s[i - d];
    }
    if (i < n) out[blockIdx.x * n + i] = s[i];
}

torch::Tensor scan_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    scan_rows<<<x.size(0), 1024>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
scan = load_inline(name="scan_ext", cpp_sources="torch::Tensor scan_forward(torch::Tensor);", cuda_sources=src, functions=["scan_forward"])


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.shape[1] <= 1024
        return scan.scan_forward(x.contiguous())
