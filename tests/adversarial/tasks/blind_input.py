"""Takes three inputs, of which the third has no influence at all."""
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn

batch_size = 64
features = 256


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor, scale: torch.Tensor, unused: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * scale + 0 * unused.mean()


def get_inputs():
    return [torch.randn(batch_size, features), torch.rand(features), torch.randn(16)]


def get_init_inputs():
    return [features]
