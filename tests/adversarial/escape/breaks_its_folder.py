"""As fast as an honest file, but it leaves a folder where its own file was: its next process cannot be written there."""
# hone-test: task = tests/adversarial/tasks/sum_of_sorted.py
# hone-test: expect = accepted
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        try:
            os.remove(__file__)
            os.mkdir(__file__)
        except OSError:
            pass

    def forward(self, x):
        return x.sum(dim=1)
