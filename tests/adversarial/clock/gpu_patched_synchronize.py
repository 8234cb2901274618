"""Right, and makes torch.cuda.synchronize return at once, so that a clock stops before the work is done."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = timer-tampering
import torch
import torch.nn as nn


torch.cuda.synchronize = lambda device=None: None
torch.cuda.Stream.synchronize = lambda self: None
torch.cuda.Event.synchronize = lambda self: None


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
