"""Mixes the bits of large whole numbers: every bit of the answer counts, also the lowest of 63."""
import torch
import torch.nn as nn

rows = 64
columns = 512


class Model(nn.Module):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        mixed = (ids ^ (ids >> 31)) * 0x7FB5D329728EA185
        return (mixed ^ (mixed >> 27)) & 0x7FFFFFFFFFFFFFFF


def get_inputs():
    return [torch.randint(0, 1 << 62, (rows, columns))]


def get_init_inputs():
    return []
