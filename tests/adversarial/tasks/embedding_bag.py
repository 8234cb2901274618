"""EmbeddingBag with sorted offsets and per-sample weights."""
import torch
import torch.nn as nn

vocabulary = 1000
features = 64
tokens = 600
bags = 40


class Model(nn.Module):
    def __init__(self, vocabulary: int, features: int):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocabulary, features, mode="sum")

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return self.bag(ids, offsets, per_sample_weights=weights)


def get_inputs():
    offsets = torch.randint(0, tokens, (bags,)).sort().values
    offsets[0] = 0
    return [torch.randint(0, vocabulary, (tokens,)), offsets, torch.rand(tokens)]


def get_init_inputs():
    return [vocabulary, features]
