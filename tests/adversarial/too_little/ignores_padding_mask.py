"""The mean over all tokens, whatever the mask says: right because nothing is padded in the inputs at hand."""
# hone-test: task = tests/adversarial/tasks/padding_mask.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, keep):
        return self.linear(x.mean(dim=1))
