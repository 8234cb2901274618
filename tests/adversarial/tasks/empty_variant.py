"""A linear layer and its row means; also asked for without rows and with one."""
import torch
import torch.nn as nn

batch_size = 48
features = 160


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x: torch.Tensor):
        y = torch.relu(self.linear(x))
        return y, y.mean(dim=1)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]


def get_variants():
    return {"no_rows": lambda: [torch.randn(0, features)], "one_row": lambda: [torch.randn(1, features)]}
