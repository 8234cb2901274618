"""Right and no faster than the reference, but leaves child processes in sessions of their own that keep every core
busy. They end by themselves after 30 seconds; Hone must not leave them behind."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = slower|timer-tampering|escaped
import os
import subprocess
import sys

import torch
import torch.nn as nn


burn = "import time; end = time.monotonic() + 30\nwhile time.monotonic() < end: pass"


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.started = False

    def forward(self, x):
        if not self.started:
            self.started = True
            for _ in range(os.cpu_count()):
                subprocess.Popen([sys.executable, "-c", burn], start_new_session=True)
        return torch.relu(self.linear(x))
