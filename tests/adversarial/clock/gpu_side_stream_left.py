"""Leaves the work on a stream of its own and returns without joining it: events on the current stream see nothing of
it."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|unsynchronised|unwritten-output|stale-result|nondeterministic
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.stream = None

    def forward(self, x):
        if self.stream is None:
            self.stream = torch.cuda.Stream()
        result = torch.empty(x.shape[0], self.linear.out_features, device=x.device)
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for _ in range(50):  # long enough that a reader who does not wait is always too early
                y = self.linear(x)
            result.copy_(torch.relu(y))
        x.record_stream(self.stream)
        result.record_stream(self.stream)
        return result
