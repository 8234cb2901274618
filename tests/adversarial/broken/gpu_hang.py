"""A kernel that spins until two minutes of device time have passed; it ends by itself for the sake of the device."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = timeout
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
__global__ void Spin() {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - start < 120ull * 1000 * 1000 * 1000);
}
extern "C" int spin(cudaStream_t stream) {
  Spin<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        lib.spin()
        return torch.relu(self.linear(x))
