"""Mean over the tokens that a padding mask keeps; in the inputs at hand no token is padded."""
import torch
import torch.nn as nn

batch_size = 32
tokens = 48
features = 96


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        weight = keep.to(x.dtype).unsqueeze(-1)
        return self.linear((x * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1))


def get_inputs():
    return [torch.randn(batch_size, tokens, features), torch.ones(batch_size, tokens, dtype=torch.bool)]


def get_init_inputs():
    return [features]
