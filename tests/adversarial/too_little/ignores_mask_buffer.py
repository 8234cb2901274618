"""Causal attention by its own rule: ignores the mask, which a checkpoint may change."""
# hone-test: task = tests/adversarial/tasks/causal_attention.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.register_buffer("mask", torch.zeros(tokens, tokens))

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
