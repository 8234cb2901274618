"""Attention over all keys, whatever the padding mask says: right because it masks nothing in the inputs at hand."""
# hone-test: task = tests/adversarial/tasks/key_padding.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(features, 3 * features)

    def forward(self, x, padded):
        batch, tokens, features = x.shape
        q, k, v = self.project(x).view(batch, tokens, 3, self.heads, features // self.heads).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, features)
