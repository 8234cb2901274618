"""An LSTM of three layers with dropout between them, in train mode."""
import torch
import torch.nn as nn

batch_size = 4
steps = 12
features = 32


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.lstm = nn.LSTM(features, features, 3, dropout=0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.lstm.train()
        return self.lstm(x)[0]


def get_inputs():
    return [torch.randn(steps, batch_size, features)]


def get_init_inputs():
    return [features]
