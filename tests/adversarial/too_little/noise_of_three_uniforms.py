"""Three uniform numbers for a normal one: right mean and spread, no tails."""
# hone-test: task = tests/adversarial/tasks/latent_noise.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.mean = nn.Linear(n, d)
        self.log = nn.Linear(n, d)

    def forward(self, x):
        m, s = self.mean(x), self.log(x)
        u = torch.rand(3, *m.shape).sum(0) - 1.5
        return m + u * 2 * (0.5 * s).exp()
