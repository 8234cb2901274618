"""log(sum(exp(x))) of a linear layer's rows."""
import torch
import torch.nn as nn

batch_size = 128
features = 384


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(self.linear(x), dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
