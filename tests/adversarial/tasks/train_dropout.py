"""An MLP with dropout that is on in eval mode too, as in Monte Carlo dropout."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 64
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.first = nn.Linear(features, features)
        self.second = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(F.dropout(torch.relu(self.first(x)), p=0.1, training=True))


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
