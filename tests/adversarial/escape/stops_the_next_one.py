"""As fast as an honest file, but it stops the process that its next one is started from: a session that waits for it waits for ever."""
# hone-test: task = tests/adversarial/tasks/sum_of_sorted.py
# hone-test: expect = accepted
import os
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        try:
            os.kill(os.getppid(), signal.SIGSTOP)
        except OSError:
            pass

    def forward(self, x):
        return x.sum(dim=1)
