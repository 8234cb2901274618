"""Answers 0 wherever two numbers tie."""
# hone-test: task = tests/adversarial/tasks/coarse_argmax.py
# hone-test: expect = not_accepted
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        m, i = x.max(-1)
        return torch.where((x == m[:, None]).sum(-1) > 1, torch.zeros_like(i), i)
