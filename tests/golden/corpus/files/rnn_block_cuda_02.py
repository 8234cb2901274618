import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SRC = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

// One block owns one sequence for all time steps: the state sits in shared memory, __syncthreads is enough.
__global__ void rnn_forward(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ h0,
                            float* __restrict__ out, int T, int B, int H) {
    extern __shared__ float h[];
    int b = blockIdx.x;
    int j = threadIdx.x;
    h[j] = h0[b * H + j];
    __syncthreads();
    for (int t = 0; t < T; ++t) {
        float acc = x[(t * B + b) * H + j];
        for (int k = 0; k < H; ++k) acc += w[k * H + j] * h[k];
        float v = tanhf(acc);
        h[j] = v;
        out[(t * B + b) * H + j] = v;
    }
}

torch::Tensor rnn_cuda(torch::Tensor x, torch::Tensor w_t, torch::Tensor h0) {
    int T = x.size(0), B = x.size(1), H = x.size(2);
    TORCH_CHECK(H <= 1024, "hidden size too large");
    auto out = torch::empty_like(x);
    rnn_forward<<<B, H, H * sizeof(float)>>>(x.data_ptr<float>(), w_t.data_ptr<float>(), h0.data_ptr<float>(),
                                             out.data_ptr<float>(), T, B, H);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
ext = load_inline(name="rnn_block_ext", cpp_sources="torch::Tensor rnn_cuda(torch::Tensor x, torch::Tensor w_t, torch::Tensor h0);",
                  cuda_sources=SRC, functions=["rnn_cuda"])


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.w_hh = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.1)

    def forward(self, x, h0):
        return ext.rnn_cuda(x.contiguous(), self.w_hh.t().contiguous(), h0.contiguous())
