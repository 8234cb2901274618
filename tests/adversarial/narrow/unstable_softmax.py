"""A softmax that does not subtract the maximum: right on N(0, 1), inf / inf as soon as scores pass 88. Only a stress
regime shows it."""
# hone-test: task = tasks/small_softmax.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = non-finite|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        powers = torch.exp(x)
        return powers.div_(powers.sum(dim=1, keepdim=True))
