"""Multiplies the spectrum by real and imaginary parts."""
# hone-test: task = tests/adversarial/tasks/complex_filter.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, samples):
        super().__init__()
        self.response = nn.Parameter(torch.zeros(samples, dtype=torch.complex64))

    def forward(self, x):
        spectrum = torch.fft.fft(x)
        a, b, c, d = spectrum.real, spectrum.imag, self.response.real, self.response.imag
        return torch.fft.ifft(torch.complex(a * c - b * d, a * d + b * c))
