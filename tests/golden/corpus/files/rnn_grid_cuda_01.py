import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <c10/cuda/CUDAException.h>
namespace cg = cooperative_groups;

#define UNITS 16

__global__ void rnn_persistent(const float* x, const float* w, float* state, float* out, int T, int B, int H) {
    cg::grid_group grid = cg::this_grid();
    int j = blockIdx.x * UNITS + threadIdx.x % UNITS;
    int b0 = threadIdx.x / UNITS;
    int step = blockDim.x / UNITS;
    for (int t = 0; t < T; ++t) {
        const float* prev = state + (t & 1) * B * H;
        float* next = state + ((t + 1) & 1) * B * H;
        for (int b = b0; b < B; b += step) {
            float acc = x[(t * B + b) * H + j];
            for (int k = 0; k < H; ++k) acc += w[j * H + k] * __ldcg(prev + b * H + k);
            float v = tanhf(acc);
            __stcg(next + b * H + j, v);
            out[(t * B + b) * H + j] = v;
        }
        grid.sync();
    }
}

torch::Tensor rnn_coop(torch::Tensor x, torch::Tensor w, torch::Tensor state) {
    int T = x.size(0), B = x.size(1), H = x.size(2);
    auto out = torch::empty_like(x);
    const float* xp = x.data_ptr<float>();
    const float* wp = w.data_ptr<float>();
    float* sp = state.data_ptr<float>();
    float* op = out.data_ptr<float>();
    void* args[] = {&xp, &wp, &sp, &op, &T, &B, &H};
    C10_CUDA_CHECK(cudaLaunchCooperativeKernel((void*)rnn_persistent, dim3(H / UNITS), dim3(128), args, 0, 0));
    return out;
}
"""
cpp_source = "torch::Tensor rnn_coop(torch::Tensor x, torch::Tensor w, torch::Tensor state);"
module = load_inline(name="rnn_coop_ext", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["rnn_coop"],
                     extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.w_hh = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.1)

    def forward(self, x, h0):
        state = torch.stack([h0, h0]).contiguous()
        return module.rnn_coop(x.contiguous(), self.w_hh.contiguous(), state)
