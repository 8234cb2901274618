"""Takes Python numbers, a flag and a None beside its tensor."""
import torch
import torch.nn as nn

batch_size = 64
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor, alpha: float, power: int, flip: bool, mask):
        y = alpha * torch.tanh(self.linear(x)) ** power
        y = y.flip(1) if flip else y
        return y if mask is None else y * mask


def get_inputs():
    return [torch.randn(batch_size, features), 0.75, 3, True, None]


def get_init_inputs():
    return [features]
