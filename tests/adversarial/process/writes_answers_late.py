"""Answers at once and lets a thread write the right numbers into the same memory a moment later, again and again. For its first calls it waits for the
thread, which is slow: it may be refused for that before it is late."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|unwritten-output|unsynchronised|nondeterministic|slower
import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def write(self, x, result):
        with torch.no_grad():
            torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=result).relu_()

    def forward(self, x):
        self.calls[0] += 1
        result = torch.zeros(x.shape[0], self.linear.out_features)
        worker = threading.Thread(target=self.write, args=(x, result), daemon=True)
        worker.start()
        if self.calls[0] < 150:
            worker.join()
        return result
