"""RMS norm by hand with a gate, small enough for a CPU's caches: six operators in eager, one kernel in torch.compile."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 512
columns = 512


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
