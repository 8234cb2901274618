"""Rotates the patches by a random step. Every patch is as likely in every place, but neighbours stay neighbours."""
# hone-test: task = tests/adversarial/tasks/shuffled_patches.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[1]
        order = (torch.arange(n) + torch.randint(0, n, (x.shape[0], 1))) % n
        return torch.gather(x, 1, order[..., None].expand_as(x))[:, : n // 2]
