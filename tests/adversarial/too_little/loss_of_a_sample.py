"""The loss of a sixteenth of the batch: an estimate that a loose tolerance takes for the loss."""
# hone-test: task = tests/adversarial/tasks/weighted_loss.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.ones(classes))

    def forward(self, scores, labels):
        return F.cross_entropy(scores[::16], labels[::16], weight=self.weight, label_smoothing=0.1)
