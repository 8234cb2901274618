"""p log p with a selection for zero."""
# hone-test: task = tests/adversarial/tasks/entropy.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, p):
        return -(p * torch.log(torch.where(p > 0, p, torch.ones_like(p)))).sum(-1)
