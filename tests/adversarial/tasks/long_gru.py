"""A GRU over 128 steps."""
import torch
import torch.nn as nn

steps = 128
batch_size = 8
input_size = 24
hidden_size = 32


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gru(x)[0]


def get_inputs():
    return [torch.randn(batch_size, steps, input_size)]


def get_init_inputs():
    return [input_size, hidden_size]
