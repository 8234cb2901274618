"""A pyramid: returns a list of three tensors of falling size."""
import torch
import torch.nn as nn

batch_size = 4
features = 64


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.levels = nn.ModuleList([nn.Linear(features >> i, features >> (i + 1)) for i in range(3)])

    def forward(self, x: torch.Tensor):
        outputs = []
        for level in self.levels:
            x = torch.relu(level(x))
            outputs.append(x)
        return outputs


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
