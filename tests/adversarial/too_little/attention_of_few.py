"""Causal attention in which a token sees the 48 tokens before it only: the last quarter loses its oldest tokens."""
# hone-test: task = tests/adversarial/tasks/causal_attention.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.register_buffer("mask", torch.zeros(tokens, tokens))

    def forward(self, q, k, v):
        tokens = q.shape[-2]
        near = torch.ones(tokens, tokens, dtype=torch.bool).tril().triu(-47)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=near)
