"""Returns a dict of two tensors of different shapes; the keys are not in the order of the alphabet."""
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
        return {"y": y, "aux": y.mean(dim=1)}


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
