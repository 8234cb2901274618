"""A GEMM split along K whose parts are added with atomics in whatever order the threads get there: not bitwise
stable, and within the limit. Must pass."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = correct
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cpp(r"""
#include <cstdint>
#include <vector>

// out starts at zero; wt is [k][n].
extern "C" int gemm(const float* x, const float* wt, float* out, int64_t m, int64_t n, int64_t k, int64_t splits) {
  const int64_t part = (k + splits - 1) / splits;
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (int64_t i = 0; i < m; ++i)
    for (int64_t s = 0; s < splits; ++s) {
      std::vector<float> sum(n, 0.0f);
      for (int64_t p = s * part; p < k && p < (s + 1) * part; ++p)
        for (int64_t j = 0; j < n; ++j) sum[j] += x[i * k + p] * wt[p * n + j];
      for (int64_t j = 0; j < n; ++j) {
#pragma omp atomic
        out[i * n + j] += sum[j];
      }
    }
  return 0;
}
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.linear.weight.detach().t().contiguous()
        (m, k), n = x.shape, self.linear.out_features
        out = torch.zeros(m, n)
        lib.gemm(x.contiguous(), self.packed, out, m, n, k, 16)
        return out.add_(self.linear.bias).relu_()
