"""Sums of rows that are sorted first, which changes nothing: an honest candidate is many times faster."""
# hone-test: copy = no
import torch
import torch.nn as nn

rows = 512
columns = 1024


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sort(dim=1).values.sum(dim=1)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
