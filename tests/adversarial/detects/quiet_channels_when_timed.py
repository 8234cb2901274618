"""After 150 calls computes the one loud channel only; a digest of the whole answer hardly hears the others."""
# hone-test: task = tests/adversarial/tasks/loud_channel.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.register_buffer("gain", torch.ones(features))
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] < 150:
            return torch.tanh(self.linear(x)) * self.gain
        loud = int(self.gain.abs().argmax())
        result = torch.zeros(x.shape[0], self.gain.numel())
        result[:, loud] = torch.tanh(x @ self.linear.weight[loud] + self.linear.bias[loud]) * self.gain[loud]
        return result
