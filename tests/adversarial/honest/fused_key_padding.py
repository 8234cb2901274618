"""The same attention by PyTorch's fused operator, with the padding mask as its mask."""
# hone-test: task = tests/adversarial/tasks/key_padding.py
# hone-test: target = cpu,cuda
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
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=~padded[:, None, None, :])
        return out.transpose(1, 2).reshape(batch, tokens, features)
