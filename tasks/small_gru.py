"""A two-layer GRU over 16 steps from a given h0; returns the last layer's outputs and the final hidden states."""
import torch
import torch.nn as nn

sequence_length = 16
batch_size = 4
input_size = 24
hidden_size = 32
num_layers = 2


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, num_layers: int):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x: torch.Tensor, h0: torch.Tensor):
        output, h_n = self.gru(x, h0)
        return output, h_n


def make_inputs(steps: int, batch: int):
    return [torch.randn(steps, batch, input_size), torch.randn(num_layers, batch, hidden_size)]


def get_inputs():
    return make_inputs(sequence_length, batch_size)


def get_init_inputs():
    return [input_size, hidden_size, num_layers]


def get_variants():
    return {
        "one_step": lambda: make_inputs(1, batch_size),
        "batch_one": lambda: make_inputs(sequence_length, 1),
        "odd_sizes": lambda: make_inputs(19, 7),
    }
