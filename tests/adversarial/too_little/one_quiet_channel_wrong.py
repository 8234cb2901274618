"""Right but for one channel of 256, which is doubled; a louder one hides it from every norm."""
# hone-test: task = tests/adversarial/tasks/loud_channel.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.register_buffer("gain", torch.ones(features))

    def forward(self, x):
        result = torch.tanh(self.linear(x)) * self.gain
        result[:, 5] *= 2
        return result
