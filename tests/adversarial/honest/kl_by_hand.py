"""KL divergence written out with xlogy."""
# hone-test: task = tests/adversarial/tasks/kl_divergence.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return (torch.xlogy(targets, targets) - targets * torch.log(predictions)).sum() / predictions.shape[0]
