"""RMS norm by hand with a gate: x / rms(x) * weight * silu(gate). Bound by memory."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 4096
columns = 1024


class Model(nn.Module):
    def __init__(self, columns: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        scale = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        return x * scale * self.weight * F.silu(gate)


def get_inputs():
    return [torch.randn(rows, columns), torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
