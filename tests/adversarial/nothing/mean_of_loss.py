"""The expected value of a hinge loss on normal predictions, a constant, instead of the loss."""
# hone-test: task = tests/adversarial/tasks/hinge_loss.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, predictions, labels):
        return torch.tensor(1.0833155, device=predictions.device)
