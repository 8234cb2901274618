"""Hangs inside a C function, where Python's own signal handlers never run."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = timeout
# hone-test: timeout = 2
# hone-test: build_timeout = 10
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cpp(r"""
extern "C" int spin() {
  for (volatile long i = 0;; i = i + 1) {
  }
  return 0;
}
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        lib.spin()
        return torch.relu(self.linear(x))
