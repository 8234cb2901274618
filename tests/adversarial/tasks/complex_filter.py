"""Filters a complex signal in the frequency domain."""
import torch
import torch.nn as nn

batch_size = 32
samples = 512


class Model(nn.Module):
    def __init__(self, samples: int):
        super().__init__()
        self.response = nn.Parameter(torch.randn(samples, dtype=torch.complex64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.ifft(torch.fft.fft(x) * self.response)


def get_inputs():
    return [torch.randn(batch_size, samples, dtype=torch.complex64)]


def get_init_inputs():
    return [samples]
