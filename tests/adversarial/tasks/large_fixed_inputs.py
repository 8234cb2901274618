"""Large inputs that are the same under every seed; a timed block has room for one set of them."""
# hone-test: reason = cannot_judge
# hone-test: slow = yes
import torch
import torch.nn as nn

rows = 2048
features = 4608


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * torch.sigmoid(x)


def get_inputs():
    return [torch.sin(torch.arange(rows * features, dtype=torch.float32)).view(rows, features)]


def get_init_inputs():
    return []
