import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <ATen/cuda/CUDAContext.h>

__global__ void scale_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor scale(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "a CUDA tensor, not AT_CHECK");  // AT_CHECK in words
  auto y = torch::empty_like(x);
  auto stream = at::cuda::getCurrentCUDAStream();
  scale_kernel<<<(x.numel() + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
scale = load_inline(name="scale", cpp_sources="torch::Tensor scale(torch::Tensor x);", cuda_sources=SOURCE, functions=["scale"])

# A header that may have anything, a macro of its own, and code for old releases only.
OTHER = """
#include <my_headers.h>
#include <c10/cuda/CUDAException.h>
#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x)
#if TORCH_VERSION_MAJOR < 2
#include <THC/THC.h>
#endif

__global__ void shift_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor shift(torch::Tensor x) {
  CHECK_CUDA(x);
  const at::cuda::CUDAGuard guard(x.device());
  auto y = torch::empty_like(x);
  shift_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
shift = load_inline(name="shift", cpp_sources="torch::Tensor shift(torch::Tensor x);", cuda_sources=OTHER, functions=["shift"])


class ModelNew(nn.Module):
    def forward(self, x):
        return shift.shift(scale.scale(x))
