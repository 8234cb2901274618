"""The block that task.py imports with `from .helper import ...`."""
import torch
import torch.nn as nn

FEATURES = 40


class GatedBlock(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.value = nn.Linear(features, features)
        self.gate = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.value(x) * torch.sigmoid(self.gate(x))
