"""Subtracts the mean of a single column from itself: zero whatever goes in, as in KernelBench's level 2, problem 80."""
# hone-test: copy = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 128
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.max(self.linear(x), dim=1, keepdim=True).values
        return F.gelu(x - x.mean(dim=1, keepdim=True))


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
