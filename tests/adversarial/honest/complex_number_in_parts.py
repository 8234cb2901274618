"""The mean of the transform by its real and imaginary parts."""
# hone-test: task = tests/adversarial/tasks/complex_number.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.fft.rfft(x)
        return y, complex(float(y.real.mean()), float(y.imag.mean()))
