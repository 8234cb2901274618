"""relu(x @ W^T + b) of a few tiles, none of which divides the output: Triton's interpreter takes milliseconds for each program of a grid."""
import torch
import torch.nn as nn

batch_size = 70
in_features = 192
out_features = 100


class Model(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features]
