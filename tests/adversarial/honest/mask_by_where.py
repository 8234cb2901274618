"""The mask is followed, whatever it is."""
# hone-test: task = tests/adversarial/tasks/mask_input.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, v, mask):
        scores = torch.where(mask, q @ k.transpose(1, 2) * q.shape[-1] ** -0.5, float("-inf"))
        return torch.softmax(scores, -1) @ v
