"""Log-probabilities with a large negative number in place of minus infinity."""
# hone-test: task = tests/adversarial/tasks/masked_log_softmax.py
# hone-test: expect = rejected
# hone-test: reason = non-finite|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores, allowed):
        return torch.log_softmax(scores.masked_fill(~allowed, -1e30), dim=-1)
