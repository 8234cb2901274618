"""The right transform and a complex number that nobody computed."""
# hone-test: task = tests/adversarial/tasks/complex_number.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x), complex(0.5, -0.5)
