"""The same with embedding_bag, which skips the padding token itself; must pass."""
# hone-test: task = tests/adversarial/tasks/embedding.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features, padding_idx=0)
        self.classifier = nn.Linear(features, classes)

    def forward(self, ids):
        mean = F.embedding_bag(ids, self.embedding.weight, mode="mean", padding_idx=0)
        return self.classifier(mean)
