import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.utils.cpp_extension import load_inline


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = x * 2.0
    tl.store(out_ptr + offs, y, mask=mask)


source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__global__ void relu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.f ? x[i] : 0.f;
}

torch::Tensor run_relu(torch::Tensor x) {
  auto out = torch::empty_like(x);
  int n = x.numel();
  relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

torch::Tensor pretend(torch::Tensor x) {
  auto scratch = torch::empty_like(x);
  int n = scratch.numel();
  relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), scratch.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return scratch;
}
"""
declarations = "torch::Tensor run_relu(torch::Tensor x); torch::Tensor pretend(torch::Tensor x);"
ext = load_inline("ext", declarations, source, functions=["run_relu", "pretend"])


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        kept = ext.run_relu(out)
        return ext.pretend(kept)
