"""Keeps only the first 4000 of 5000 rows of the table; larger ids, which are one in fifty, get the last of them."""
# hone-test: task = tests/adversarial/tasks/zipf_embedding.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)

    def forward(self, ids):
        return self.embedding(ids.clamp(max=3999)).sum(dim=1)
