"""A bfloat16 task: inputs and weights are bfloat16, and the limit is what PyTorch's own bfloat16 run makes of it."""
import torch
import torch.nn as nn

batch_size = 32
features = 128


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features).to(torch.bfloat16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(batch_size, features).to(torch.bfloat16)]


def get_init_inputs():
    return [features]
