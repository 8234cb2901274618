import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SIGMOID = '''
#include <torch/extension.h>

template <typename scalar_t>
__global__ void sigmoid_kernel(const scalar_t* x, scalar_t* y, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = scalar_t(1) / (scalar_t(1) + exp(-x[i]));
}

torch::Tensor sigmoid_forward(torch::Tensor x) {
    AT_CHECK(x.is_contiguous(), "x must be contiguous");
    auto y = torch::empty_like(x);
    const size_t n = x.numel();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sigmoid_forward", ([&] {
        sigmoid_kernel<scalar_t><<<(n + 1023) / 1024, 1024>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
    }));
    return y;
}
'''

module = load_inline("sigmoid_mod", "torch::Tensor sigmoid_forward(torch::Tensor x);", SIGMOID, functions=["sigmoid_forward"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.sigmoid_forward(x.contiguous())
