"""Cross entropy with weights, smoothing and an ignored label, written out."""
# hone-test: task = tests/adversarial/tasks/weighted_loss.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.ones(classes))

    def forward(self, scores, labels):
        logs = torch.log_softmax(scores, dim=1)
        kept = labels != -100
        index = labels.clamp(min=0)
        weight = self.weight[index] * kept
        own = -(logs.gather(1, index.unsqueeze(1)).squeeze(1) * weight).sum()
        smooth = -((logs * self.weight).sum(dim=1) * kept).sum() / scores.shape[1]
        return (0.9 * own + 0.1 * smooth) / weight.sum()
