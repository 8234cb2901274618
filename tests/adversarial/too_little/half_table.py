"""Looks embeddings up in a float16 copy of the table."""
# hone-test: task = tests/adversarial/tasks/zipf_embedding.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)
        self.half = None

    def forward(self, ids):
        if self.half is None:
            self.half = self.embedding.weight.half()
        return self.half[ids].float().sum(dim=1)
