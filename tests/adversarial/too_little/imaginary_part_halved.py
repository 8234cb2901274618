"""Filters with the real part of the response and half of its imaginary part."""
# hone-test: task = tests/adversarial/tasks/complex_filter.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, samples):
        super().__init__()
        self.response = nn.Parameter(torch.zeros(samples, dtype=torch.complex64))

    def forward(self, x):
        response = torch.complex(self.response.real, 0.5 * self.response.imag)
        return torch.fft.ifft(torch.fft.fft(x) * response)
