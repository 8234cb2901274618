"""The same attention through scaled_dot_product_attention, with the mask it is given."""
# hone-test: task = tests/adversarial/tasks/causal_attention.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.register_buffer("mask", torch.zeros(tokens, tokens))

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
