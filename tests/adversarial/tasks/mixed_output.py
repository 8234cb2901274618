"""Returns a dict with a tensor, a None, a Python float, a Python int and a nested tuple."""
import torch
import torch.nn as nn

batch_size = 64
features = 192


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor):
        y = torch.relu(self.linear(x))
        return {"y": y, "cache": None, "share": float((y > 0).float().mean()), "count": int((y > 0.5).sum()), "ends": (y[:, 0], y[:, -1])}


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
