"""A kernel that writes to address zero: the device context is lost, and the device must be fit for the next candidate
all the same."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = crashed
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
__global__ void Write(float* p) { *p = 1.0f; }
extern "C" int poke(float* p, cudaStream_t stream) {
  Write<<<1, 1, 0, stream>>>(p);
  return cudaGetLastError();
}
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        lib.poke(None)
        return torch.relu(self.linear(x))
