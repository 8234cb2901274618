"""Python numbers, complex ones too, in nested answers."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        m = x.mean().item()
        n = int((x > 0).sum())
        return {"mean": m, "count": n, "shape": list(x.shape), "parts": (x * m, None, {"z": complex(m, n)}), "flag": n > 0, "name": "stats"}


def get_inputs():
    return [torch.randn(64, 65)]


def get_init_inputs():
    return []
