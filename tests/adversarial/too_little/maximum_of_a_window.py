"""The largest of the last 512 numbers only: wrong where the maximum is older."""
# hone-test: task = tests/adversarial/tasks/running_maximum.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        values, places = torch.cummax(x[:, :512], dim=-1)
        more, at = x.unfold(1, 512, 1)[:, 1:].max(dim=-1)
        return torch.cat([values, more], 1), torch.cat([places, at + torch.arange(1, x.shape[1] - 511)], 1)
