"""Does half of the work on a stream of its own and joins it before returning. Must pass."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = correct
import torch
import torch.nn as nn

import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.stream = None

    def forward(self, x):
        if self.stream is None:
            self.stream = torch.cuda.Stream()
        half = x.shape[0] // 2
        result = torch.empty(x.shape[0], self.linear.out_features, device=x.device)
        current = torch.cuda.current_stream()
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            result[:half] = torch.relu(F.linear(x[:half], self.linear.weight, self.linear.bias))
        result[half:] = torch.relu(F.linear(x[half:], self.linear.weight, self.linear.bias))
        current.wait_stream(self.stream)
        return result
