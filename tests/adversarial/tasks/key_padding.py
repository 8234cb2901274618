"""Attention with a key padding mask that is True where a key is padded; in the inputs at hand no key is."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
tokens = 40
features = 64
heads = 4


class Model(nn.Module):
    def __init__(self, features: int, heads: int):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(features, 3 * features)

    def forward(self, x: torch.Tensor, padded: torch.Tensor) -> torch.Tensor:
        batch, tokens, features = x.shape
        q, k, v = self.project(x).view(batch, tokens, 3, self.heads, features // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (features // self.heads) ** 0.5
        scores = scores.masked_fill(padded[:, None, None, :], float("-inf"))
        return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, tokens, features)


def get_inputs():
    return [torch.randn(batch_size, tokens, features), torch.zeros(batch_size, tokens, dtype=torch.bool)]


def get_init_inputs():
    return [features, heads]
