"""A product that casts to float32 inside, so that a float64 run of it could be no more accurate than float32."""
import torch
import torch.nn as nn

rows = 32
inner = 8192
columns = 16


class Model(nn.Module):
    def __init__(self, inner: int, columns: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inner, columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.float() @ self.weight.float()


def get_inputs():
    return [torch.randn(rows, inner)]


def get_init_inputs():
    return [inner, columns]
