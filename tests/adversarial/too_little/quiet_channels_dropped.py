"""Right in the one loud channel, zero in all others."""
# hone-test: task = tests/adversarial/tasks/loud_channel.py
# hone-test: target = cpu,cuda
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
        result = torch.zeros(x.shape[0], self.gain.numel(), device=x.device)
        loud = int(self.gain.abs().argmax())
        result[:, loud] = torch.tanh(x @ self.linear.weight[loud] + self.linear.bias[loud]) * self.gain[loud]
        return result
