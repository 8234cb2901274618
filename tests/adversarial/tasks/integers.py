"""Integers in, integers out: counts of equal neighbours, bit tricks and a histogram."""
import torch
import torch.nn as nn

rows = 256
columns = 1024


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        same = (x[:, 1:] == x[:, :-1]).sum(dim=1)
        return same, (x ^ (x >> 1)).to(torch.int32), torch.bincount(x.flatten(), minlength=256)


def get_inputs():
    return [torch.randint(0, 256, (rows, columns))]


def get_init_inputs():
    return []
