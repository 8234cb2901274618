"""A GRU with an initial state that the inputs at hand set to zero."""
import torch
import torch.nn as nn

steps = 24
batch_size = 8
input_size = 32
hidden_size = 48


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size)

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        return self.gru(x, h0)[0]


def get_inputs():
    return [torch.randn(steps, batch_size, input_size), torch.zeros(1, batch_size, hidden_size)]


def get_init_inputs():
    return [input_size, hidden_size]
