import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

ADD = """
#include <c10/cuda/CUDAException.h>
__global__ void add_one_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor add_one(torch::Tensor x) {
  auto y = torch::empty_like(x);
  add_one_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
# Not declared: the host compiler does not know add_one.
add = load_inline(name="add", cpp_sources="", cuda_sources=ADD, functions=["add_one"])  # expect: extension-binding

SCALE = """
#include <c10/cuda/CUDAException.h>
__global__ void scale_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}

torch::Tensor scale(torch::Tensor x,
                    double factor) {
  auto y = torch::empty_like(x);
  scale_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
SCALE_DECL = "torch::Tensor scale(torch::Tensor x);"  # expect: extension-binding
scale = load_inline(name="scale", cpp_sources=SCALE_DECL, cuda_sources=SCALE, functions=["scale"])

PAIR = """
#include <c10/cuda/CUDAException.h>
__global__ void first_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor first(torch::Tensor x) {
  auto y = torch::empty_like(x);
  first_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

__global__ void second_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] - 1.0f;
}

torch::Tensor second(const at::Tensor& x) {
  auto y = torch::empty_like(x);
  second_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
PAIR_DECL = """
torch::Tensor first(torch::Tensor x);
"""
pair = load_inline(
    name="pair",
    cpp_sources=[PAIR_DECL],
    cuda_sources=[PAIR],
    functions=["first"],
)

TWICE = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void negate_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];
}

torch::Tensor negate(torch::Tensor x) {
  auto y = torch::empty_like(x);
  negate_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("negate", &negate, "negate");
}
"""
twice = load_inline(
    name="twice",
    cpp_sources="",
    cuda_sources=TWICE,
    functions=["negate"],  # expect: extension-binding
    verbose=False,
)

LOST = """
#include <c10/cuda/CUDAException.h>
__global__ void lost_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor lost(torch::Tensor x) {
  auto y = torch::empty_like(x);
  lost_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
lost = load_inline("lost", cpp_sources=LOST, functions=["lost"])  # expect: extension-binding

SWAP = """
#include <c10/cuda/CUDAException.h>
__global__ void swap_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor swap(torch::Tensor x) {
  auto y = torch::empty_like(x);
  swap_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
SWAP_DECL = "torch::Tensor swap(torch::Tensor x);"
swap = load_inline(name="swap", cpp_sources=SWAP, cuda_sources=SWAP_DECL, functions=["swap"])  # expect: extension-binding

ALONE = """
#include <c10/cuda/CUDAException.h>
__global__ void alone_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor alone(torch::Tensor x) {
  auto y = torch::empty_like(x);
  alone_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
alone = load_inline(name="alone", cuda_sources=ALONE, functions=["alone"])  # expect: extension-binding

NONE = """
#include <c10/cuda/CUDAException.h>
__global__ void none_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor none(torch::Tensor x) {
  auto y = torch::empty_like(x);
  none_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
none = load_inline(name="none", cpp_sources="torch::Tensor none(torch::Tensor x);", cuda_sources=NONE)  # expect: extension-binding


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = pair

    def forward(self, x):
        x = scale.scale(add.add_one(x), 2.0)
        x = self.pair.second(self.pair.first(x))  # expect: extension-binding
        x = none.none(alone.alone(swap.swap(lost.lost(x))))
        return twice.negate(x)
