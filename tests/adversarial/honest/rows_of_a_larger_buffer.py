"""Returns the first rows of a padded buffer, whose row stride is larger than a row."""
# hone-test: task = tests/adversarial/tasks/row_norm.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        padded = torch.empty(x.shape[0], x.shape[1] + 16, dtype=x.dtype, device=x.device)
        result = padded[:, : x.shape[1]]
        return torch.div(x, torch.sqrt((x * x).sum(dim=1, keepdim=True) + 1e-6), out=result)
