"""The eight largest scores of every row, in order, with their places."""
import torch
import torch.nn as nn

rows = 64
columns = 1024


class Model(nn.Module):
    def forward(self, scores: torch.Tensor):
        values, places = torch.topk(scores, 8, dim=-1)
        return values, places


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
