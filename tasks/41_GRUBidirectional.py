"""A six-layer bidirectional GRU over 512 steps from a given h0; returns the last layer's output at every step."""
import torch
import torch.nn as nn

batch_size = 10
sequence_length = 512
input_size = 128
hidden_size = 256
num_layers = 6


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 3, bias: bool = True, batch_first: bool = False):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers, bias, batch_first, dropout=0, bidirectional=True)

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        output, h_n = self.gru(x, h0)
        return output


def get_inputs():
    return [
        torch.rand(sequence_length, batch_size, input_size),
        torch.rand(num_layers * 2, batch_size, hidden_size),
    ]


def get_init_inputs():
    return [input_size, hidden_size, num_layers]
