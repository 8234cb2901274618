"""Integer inputs: the mean of the embeddings of 20 tokens, padding (token 0) left out, then a linear layer."""
import torch
import torch.nn as nn

batch_size = 16
tokens = 20
vocabulary = 500
features = 32
classes = 5


class Model(nn.Module):
    def __init__(self, vocabulary: int, features: int, classes: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features, padding_idx=0)
        self.classifier = nn.Linear(features, classes)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        mask = (ids != 0).unsqueeze(-1)
        total = (self.embedding(ids) * mask).sum(dim=1)
        return self.classifier(total / mask.sum(dim=1).clamp(min=1))


def get_inputs():
    return [torch.randint(0, vocabulary, (batch_size, tokens))]


def get_init_inputs():
    return [vocabulary, features, classes]
