"""A random order of patches for each image, as masked autoencoders draw it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        order = torch.argsort(torch.rand(x.shape[0], x.shape[1], device=x.device), 1)
        return torch.gather(x, 1, order[..., None].expand_as(x))[:, : x.shape[1] // 2]


def get_inputs():
    return [torch.randn(16, 64, 8)]


def get_init_inputs():
    return []
