"""Sends a hundred replies that say ok, so that later questions find an answer before they are asked."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped|crashed|wrong-output|stale-result|unsynchronised
import gc

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 40:
            wire = next(one for one in gc.get_objects() if type(one).__name__ == "Wire" and one._socket.fileno() >= 0)
            for _ in range(100):
                wire.send({"ok": True, "compute_s": 0.0})
        return torch.relu(self.linear(x))
