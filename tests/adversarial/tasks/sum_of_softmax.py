"""Sums a softmax over the axis it was taken over: one whatever goes in."""
# hone-test: copy = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn

batch_size = 256
features = 512


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.linear(x), dim=1).sum(dim=1)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
