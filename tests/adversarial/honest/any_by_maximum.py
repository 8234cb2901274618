"""A row has a far number if its largest is far; counts by a product with ones."""
# hone-test: task = tests/adversarial/tasks/any_above.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        size = x.abs()
        return size.amax(1) > 2.5, (size > 2.5).float().mv(torch.ones(x.shape[1])).to(torch.int32)
