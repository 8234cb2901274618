"""get_inputs makes the same numbers every time; no seed changes them."""
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn

batch_size = 128
features = 384


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.sin(torch.arange(batch_size * features, dtype=torch.float32)).view(batch_size, features)]


def get_init_inputs():
    return [features]
