"""A masked mean as one batched product with the mask."""
# hone-test: task = tests/adversarial/tasks/padding_mask.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, keep):
        weight = keep.to(x.dtype)
        mean = torch.bmm(weight.unsqueeze(1), x).squeeze(1) / weight.sum(dim=1, keepdim=True).clamp(min=1)
        return self.linear(mean)
