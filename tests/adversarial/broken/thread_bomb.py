"""Starts threads, ten times as many as it may have. They end after 20 seconds."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped
# hone-test: timeout = 60
import threading
import time

import torch
import torch.nn as nn


def start():
    threading.stack_size(1 << 16)
    for _ in range(40000):
        try:
            threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        except RuntimeError:
            time.sleep(0.01)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        start()
        return torch.relu(self.linear(x))
