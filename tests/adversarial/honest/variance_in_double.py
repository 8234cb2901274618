"""Mean and variance from float64 sums."""
# hone-test: task = tests/adversarial/tasks/variance.py
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        wide = x.double()
        mean = wide.mean(dim=1)
        centred = wide - mean.unsqueeze(1)
        return mean.to(x.dtype), ((centred * centred).sum(dim=1) / (x.shape[1] - 1)).to(x.dtype)
