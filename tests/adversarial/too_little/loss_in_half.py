"""Distances in bfloat16; the mean over the batch hides most of it."""
# hone-test: task = tests/adversarial/tasks/triplet_loss.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, anchor, positive, negative):
        anchor, positive, negative = anchor.bfloat16(), positive.bfloat16(), negative.bfloat16()
        near = (anchor - positive).pow(2).sum(1)
        far = (anchor - negative).pow(2).sum(1)
        return torch.relu(near.float() - far.float() + 1).mean()
