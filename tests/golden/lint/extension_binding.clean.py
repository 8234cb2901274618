import os

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
add = load_inline(name="add", cpp_sources="at::Tensor add_one(at::Tensor input);", cuda_sources=ADD, functions=["add_one"])

# A binding of its own, and no second one.
OWN = """
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
own = load_inline(name="own", cpp_sources="", cuda_sources=OWN)

# What is put together at run time, or declared in a file of one's own, is not known.
MADE = ADD.replace("add_one", "made")
made = load_inline(name="made", cpp_sources="", cuda_sources=MADE, functions=["made"])
FILE = '#include "declarations.h"'
other = load_inline(name="other", cpp_sources=FILE, cuda_sources=ADD, functions=["add_one"], extra_include_paths=[os.getcwd()])

# Registered with the dispatcher.
LIBRARY = """
torch::Tensor twice(torch::Tensor x) { return x + x; }
TORCH_LIBRARY(golden, m) { m.def("twice", &twice); }
"""
load_inline(name="library", cpp_sources=LIBRARY, is_python_module=False)

# Defined where it is bound; the same type under another name; one of two overloads.
CPP = """
torch::Tensor relu(const torch::Tensor& x) { return x.clamp_min(0); }
torch::Tensor shift(at::Tensor x, long by);
"""
SHIFT = """
#include <c10/cuda/CUDAException.h>
__global__ void shift_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

torch::Tensor shift(torch::Tensor x, int64_t by) {
  auto y = torch::empty_like(x);
  shift_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
cpp = load_inline(name="cpp", cpp_sources=CPP, cuda_sources=SHIFT, functions={"relu": "relu", "shift": "shift"})


class ModelNew(nn.Module):
    def forward(self, x):
        x = add.add_one(own.negate(made.made(other.add_one(x))))
        return cpp.shift(cpp.relu(x), 1)
