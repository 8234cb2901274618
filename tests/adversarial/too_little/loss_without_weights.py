"""Cross entropy without the class weights, which are all one as initialised."""
# hone-test: task = tests/adversarial/tasks/weighted_loss.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.register_buffer("weight", torch.ones(classes))

    def forward(self, scores, labels):
        return F.cross_entropy(scores, labels, label_smoothing=0.1)
