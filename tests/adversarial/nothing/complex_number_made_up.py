"""The right transform and an invented complex number."""
# hone-test: task = tests/adversarial/tasks/complex_number.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x), complex(0.5, -0.5)
