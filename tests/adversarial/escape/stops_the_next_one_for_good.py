"""As fast as an honest file, but a process that has left its family stops the process that its next one is started from, again and again."""
# hone-test: task = tests/adversarial/tasks/sum_of_sorted.py
# hone-test: timed = yes
# hone-test: expect = not_accepted
# hone-test: reason = escaped|timeout|stale-result
# hone-test: slow = yes
import os
import signal
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        zygote = os.getppid()
        if zygote > 1 and os.fork() == 0:
            if os.fork() != 0:
                os._exit(0)
            while True:
                try:
                    os.kill(zygote, signal.SIGSTOP)
                except OSError:
                    os._exit(0)
                time.sleep(0.001)

    def forward(self, x):
        return x.sum(dim=1)
