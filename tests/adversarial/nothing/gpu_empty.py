"""Returns torch.empty on the GPU, where the allocator does hand back the memory of the last answer."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = unwritten-output|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.empty(x.shape[0], self.linear.out_features, device=x.device)
