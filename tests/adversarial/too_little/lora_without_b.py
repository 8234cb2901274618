"""A linear layer without its low-rank update: right as long as the second factor is zero."""
# hone-test: task = tests/adversarial/tasks/lora.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, rank):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.lora_a = nn.Parameter(torch.zeros(rank, features))
        self.lora_b = nn.Parameter(torch.zeros(features, rank))

    def forward(self, x):
        return self.linear(x)
