"""Stops the process that it was started from with SIGSTOP: a session that waits for it waits for ever."""
# hone-test: timed=yes
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: reason = escaped|crashed|timeout
import os
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        try:
            os.kill(os.getppid(), signal.SIGSTOP)
        except OSError:
            pass

    def forward(self, x):
        return torch.relu(self.linear(x))
