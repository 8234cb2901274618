"""Tries to kill the process that started it, then goes on with the right answer, a little slower than the reference."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = escaped|crashed|slower
import os
import signal
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.tried = False

    def forward(self, x):
        if not self.tried and os.getppid() > 1:
            self.tried = True
            try:
                os.kill(os.getppid(), signal.SIGKILL)
            except OSError:
                pass
        time.sleep(1e-3)
        return torch.relu(self.linear(x))
