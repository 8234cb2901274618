"""Switches TF32 on for its own process. PyTorch's default run of this task does not use it, so the error is over the
limit; it is allowed where --precision tf32 is asked for."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


torch.backends.cuda.matmul.allow_tf32 = True


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        torch.backends.cuda.matmul.allow_tf32 = True
        return torch.relu(self.linear(x))
