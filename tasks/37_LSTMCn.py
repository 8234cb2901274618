"""A six-layer LSTM from given h0 and c0; returns the cell state after the last step, for every layer."""
import torch
import torch.nn as nn

batch_size = 10
sequence_length = 512
input_size = 128
hidden_size = 256
num_layers = 6
output_size = 10


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, num_layers: int, output_size: int, dropout: float = 0.0):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout, bidirectional=False)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
        out, state = self.lstm(x, (h0, c0))
        out = self.fc(out[:, -1, :])  # computed and dropped, as in the well-known task of this name
        return state[1]


def get_inputs():
    return [
        torch.rand(batch_size, sequence_length, input_size),
        torch.rand(num_layers, batch_size, hidden_size),
        torch.rand(num_layers, batch_size, hidden_size),
    ]


def get_init_inputs():
    return [input_size, hidden_size, num_layers, output_size]
