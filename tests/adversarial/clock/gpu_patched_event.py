"""Right, and replaces torch.cuda.Event by one that reports a tenth of the time."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = timer-tampering
import torch
import torch.nn as nn


class Event(torch.cuda.Event):
    def elapsed_time(self, end):
        return super().elapsed_time(end) / 10


torch.cuda.Event = Event


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
