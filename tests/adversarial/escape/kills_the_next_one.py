"""As fast as an honest file, but it kills the process that its next one is started from, after it has asked to outlive it."""
# hone-test: task = tests/adversarial/tasks/sum_of_sorted.py
# hone-test: timed = yes
# hone-test: expect = not_accepted
# hone-test: reason = escaped|crashed|out-of-memory
import ctypes
import os
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        if os.getppid() > 1:
            os.kill(os.getppid(), signal.SIGKILL)

    def forward(self, x):
        return x.sum(dim=1)
