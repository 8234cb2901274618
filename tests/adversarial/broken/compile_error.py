"""Its C++ does not compile."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = build-failed|import-failed
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cpp('extern "C" int run(const float* x) { return undeclared(x); }')


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        lib.run(x)
        return torch.relu(self.linear(x))
