"""EmbeddingBag by hand: the bag of each token by searchsorted, then index_add."""
# hone-test: task = tests/adversarial/tasks/embedding_bag.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocabulary, features, mode="sum")

    def forward(self, ids, offsets, weights):
        rows = self.bag.weight[ids] * weights.unsqueeze(1)
        bag = torch.searchsorted(offsets, torch.arange(ids.numel(), device=ids.device), right=True) - 1
        result = torch.zeros(offsets.numel(), rows.shape[1], dtype=rows.dtype, device=rows.device)
        return result.index_add_(0, bag, rows)
