"""Merges the low-rank update into the weight in every call."""
# hone-test: task = tests/adversarial/tasks/lora.py
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features, rank):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.lora_a = nn.Parameter(torch.zeros(rank, features))
        self.lora_b = nn.Parameter(torch.zeros(features, rank))

    def forward(self, x):
        return F.linear(x, torch.addmm(self.linear.weight, self.lora_b, self.lora_a), self.linear.bias)
