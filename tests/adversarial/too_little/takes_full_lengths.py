"""The mean over all steps: right because every length is the longest in the inputs at hand."""
# hone-test: task = tests/adversarial/tasks/full_lengths.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, lengths):
        return self.linear(x.mean(1))
