"""Brings its own stress: softplus(scale * x + offset) is nearly constant as initialised, and wakes up under
get_stress."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 16
features = 64


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.scale = nn.Parameter(torch.full((features,), 1e-3))
        self.offset = nn.Parameter(torch.zeros(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softplus(x * self.scale + self.offset)


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [features]


def get_stress(regime, model, inputs):
    """Returns the inputs to use under this regime; changes the model's parameters in place."""
    with torch.no_grad():
        model.scale.copy_(torch.linspace(-2.0, 2.0, model.scale.numel()))
        model.offset.normal_()
    return [torch.randn_like(inputs[0])]
