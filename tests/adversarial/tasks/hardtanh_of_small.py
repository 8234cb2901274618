"""A clamp that the inputs at hand never reach, on a scaled input."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 256
features = 1024


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(x * 0.5, -4.0, 4.0) * 3.0


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return []
