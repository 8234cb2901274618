"""KL divergence by its second-order expansion, which is close for rows that are nearly alike."""
# hone-test: task = tests/adversarial/tasks/kl_divergence.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        difference = targets - predictions
        return (difference * difference / (predictions + targets)).sum() / predictions.shape[0]
