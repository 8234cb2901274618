"""argmax that returns the last of several equal maxima where PyTorch returns the first."""
# hone-test: task = tests/adversarial/tasks/argmax.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.shape[1] - 1 - torch.argmax(x.flip(1), dim=1)
