"""Leaves a kernel on a stream of its own that keeps every multiprocessor busy for 30 ms after the call, when the reference runs."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
__global__ void Spin() {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - start < 30ull * 1000 * 1000);
}
extern "C" int spin(long long blocks, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  if (cudaStreamQuery(own) == cudaSuccess) Spin<<<blocks, 1024, 0, own>>>();
  return cudaGetLastError();
}
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        result = torch.relu(self.linear(x))
        if self.calls[0] > 30 and self.calls[0] % 8 == 0:
            lib.spin(264)
        return result
