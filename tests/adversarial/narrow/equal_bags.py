"""Takes all bags of an EmbeddingBag for equally long, and ignores the offsets."""
# hone-test: task = tests/adversarial/tasks/embedding_bag.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocabulary, features, mode="sum")

    def forward(self, ids, offsets, weights):
        rows = self.bag.weight[ids] * weights.unsqueeze(1)
        return rows.view(offsets.numel(), -1, rows.shape[1]).sum(dim=1)
