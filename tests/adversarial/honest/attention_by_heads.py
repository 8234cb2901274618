"""The projections by themselves and PyTorch's fused attention."""
# hone-test: task = tests/adversarial/tasks/self_attention.py
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch
import torch.nn as nn


class Ref(nn.Module):
    """Self-attention whose query, key and value are one tensor."""

    def __init__(self, d, h):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, h, batch_first=True)

    def forward(self, q, k, v):
        return self.attention(q, k, v, need_weights=False)[0]


def get_inputs():
    x = torch.randn(4, 16, 32)
    return [x, x, x]


def get_init_inputs():
    return [32, 4]


class ModelNew(Ref):
    def forward(self, q, k, v):
        a = self.attention
        h = a.num_heads
        d = a.embed_dim
        w, b = a.in_proj_weight.chunk(3), a.in_proj_bias.chunk(3)
        q, k, v = (F.linear(t, w[i], b[i]).unflatten(-1, (h, d // h)).transpose(1, 2) for i, t in enumerate((q, k, v)))
        return a.out_proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
